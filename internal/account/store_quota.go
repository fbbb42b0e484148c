package account

import "arbor/internal/db"

// QuotaOf reads the quota of an account, and how many repositories it has. Error: 404.
func QuotaOf(tx *db.Tx, id ID) (q Quota, repos int64, err error) {
	err = tx.QueryRow(`SELECT quota_repos, quota_kb, public_repos + private_repos FROM accounts WHERE id = $1`, id).
		Scan(&q.Repos, &q.KB, &repos)
	return q, repos, orAbsent(err)
}

// OwnedKB sums the sizes of an account's repositories, in KiB. Who decides by it holds
// the account's row ([HoldID]).
func OwnedKB(tx *db.Tx, id ID) (kb int64, err error) {
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM(size_kb), 0) AS BIGINT) FROM repos WHERE owner_id = $1`, id).Scan(&kb)
	return kb, err
}

// HoldID holds the account's row until the transaction ends.
func HoldID(tx *db.Tx, id ID) error { return lockAccount(tx, id) }

func setQuota(tx *db.Tx, id ID, q Quota) error {
	_, err := tx.Exec(`UPDATE accounts SET quota_repos = $2, quota_kb = $3 WHERE id = $1`, id, q.Repos, q.KB)
	return err
}

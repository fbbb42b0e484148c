package account

import "arbor/internal/db"

// QuotaOf reads the quota of an account, and how many repositories it has. Error: 404.
func QuotaOf(tx *db.Tx, id ID) (q Quota, repos int64, err error) {
	err = tx.QueryRow(`SELECT quota_repos, quota_kb, public_repos + private_repos FROM accounts WHERE id = $1`, id).
		Scan(&q.Repos, &q.KB, &repos)
	return q, repos, orAbsent(err)
}

// OwnedKB sums what counts in an account's quota, in KiB: its repositories with their files, those that were
// deleted and whose folders are still there, and what came into other repositories with its
// pull requests. Who decides by it holds the account's row ([HoldID]).
func OwnedKB(tx *db.Tx, id ID) (kb int64, err error) {
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM(kb), 0) AS BIGINT) FROM (
		SELECT size_kb + files_kb AS kb FROM repos WHERE owner_id = $1
		UNION ALL SELECT size_kb FROM discarded WHERE owner_id = $1
		UNION ALL SELECT kb FROM brought WHERE user_id = $1) AS x`, id).Scan(&kb)
	return kb, err
}

// HoldID holds the account's row until the transaction ends.
func HoldID(tx *db.Tx, id ID) error { return lockAccount(tx, id) }

func setQuota(tx *db.Tx, id ID, q Quota) error {
	_, err := tx.Exec(`UPDATE accounts SET quota_repos = $2, quota_kb = $3 WHERE id = $1`, id, q.Repos, q.KB)
	return err
}

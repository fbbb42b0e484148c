package account

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// QuotaOf reads the quota of an account, and how many repositories it has, without those that were deleted and can
// be restored: package deleted bounds these. Error: 404.
func QuotaOf(tx *db.Tx, id ID) (q Quota, repos int64, err error) {
	err = tx.QueryRow(`SELECT quota_repos, quota_kb, quota_text_kb, public_repos + private_repos
			- (SELECT count(*) FROM kept_repos WHERE owner_id = $1)
		FROM accounts WHERE id = $1`, id).Scan(&q.Repos, &q.KB, &q.Text, &repos)
	return q, repos, OrAbsent(err)
}

// OwnedKB sums what counts in an account's quota, in KiB: its repositories with their files, without those
// that can be restored, those that were removed and whose folders or packs are still there, what came into other
// repositories with its pull requests,
// texts that imports brought into its repositories, and files that it put there without the right to push. Who
// decides by it holds the account's row
// ([HoldID]).
func OwnedKB(tx *db.Tx, id ID) (kb int64, err error) {
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM(kb), 0) AS BIGINT) FROM (
		SELECT size_kb + files_kb AS kb FROM repos
			WHERE owner_id = $1 AND id NOT IN (SELECT repo_id FROM kept_repos WHERE owner_id = $1)
		UNION ALL SELECT (j.text_bytes + 1023) / 1024 FROM import_jobs j JOIN repos r ON r.id = j.repo_id
			WHERE r.owner_id = $1
		UNION ALL SELECT size_kb FROM discarded WHERE owner_id = $1
		UNION ALL SELECT kb FROM brought WHERE user_id = $1
		UNION ALL SELECT (size + 1023) / 1024 FROM files WHERE payer_id = $1) AS x`, id).Scan(&kb)
	return kb, err
}

// sizes reads the usage of an account and the size of its texts, both in KiB.
func sizes(tx *db.Tx, id ID) (owned, text int64, err error) {
	if owned, err = OwnedKB(tx, id); err != nil {
		return 0, 0, err
	}
	u, err := textOf(tx, id)
	return owned, (u.bytes + 1023) / 1024, err
}

// HoldID holds the account's row until the transaction ends.
func HoldID(tx *db.Tx, id ID) error { return lockAccount(tx, id) }

func setQuota(tx *db.Tx, id ID, q Quota) error {
	_, err := tx.Exec(`UPDATE accounts SET quota_repos = $2, quota_kb = $3, quota_text_kb = $4 WHERE id = $1`,
		id, q.Repos, q.KB, q.Text)
	return err
}

// selectText reads what counts in the quota of the account for which the texts of $1 count.
func selectText(e db.Engine) string {
	const hour = `3600000000` // in microseconds
	recent := `t.hour > ` + e.Clock() + ` - ` + hour
	return `WITH payer AS (SELECT COALESCE((SELECT owner_id FROM apps WHERE bot_id = $1), CAST($1 AS BIGINT)) AS id)
		SELECT a.login, a.quota_text_kb, CAST(COALESCE(SUM(t.bytes), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN ` + recent + ` THEN t.hour_bytes ELSE 0 END), 0) AS BIGINT),
			COALESCE((MIN(CASE WHEN ` + recent + ` THEN t.hour END) + ` + hour + ` - ` + e.Clock() + `) / 1000000, 0)
		FROM payer p JOIN accounts a ON a.id = p.id
		LEFT JOIN (SELECT id AS writer FROM payer
			UNION ALL SELECT x.bot_id FROM apps x JOIN payer ON x.owner_id = payer.id) w ON TRUE
		LEFT JOIN text_counts t ON t.account_id = w.writer
		GROUP BY a.login, a.quota_text_kb`
}

// textHour is what an account has written in an hour, which began at a time.
type textHour struct{ began, bytes int64 }

// hourOf reads the hour that is counted; one that is over is empty.
func hourOf(tx *db.Tx, id ID) (h textHour, err error) {
	err = tx.QueryRow(`SELECT hour, hour_bytes FROM text_counts WHERE account_id = $1 AND hour > `+
		tx.Engine().Clock()+` - 3600000000`, id).Scan(&h.began, &h.bytes)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return h, err
}

// moveHour adds what one account has written within its hour to the hour of another.
func moveHour(tx *db.Tx, from, to ID, since textHour) error {
	now, err := hourOf(tx, from)
	if err != nil {
		return err
	}
	n := now.bytes
	if now.began == since.began {
		n -= since.bytes
	}
	if n <= 0 {
		return nil
	}
	if err := tx.Run(`UPDATE text_counts SET hour_bytes = hour_bytes - $2 WHERE account_id = $1`, from, n); err != nil {
		return err
	}
	if tx.Engine() == db.PostgreSQL {
		_, err = tx.Exec(`SELECT count_text($1, 0, $2)`, to, n)
		return err
	}
	return tx.Run(`INSERT INTO text_changes (account_id, bytes, written) VALUES ($1, 0, $2)`, to, n)
}

// textOf reads what an account has written, with the other accounts that count with it. Error: 404.
func textOf(tx *db.Tx, id ID) (textUse, error) {
	u, err := sendTextOf(tx, id)
	if err == nil {
		err = tx.Flush()
	}
	if err == nil && u.login == "" {
		err = errs.Absent()
	}
	return *u, err
}

// sendTextOf is textOf, as [db.Tx.SendEach] reads. Without the account, the login is empty.
func sendTextOf(tx *db.Tx, id ID) (*textUse, error) {
	var u textUse
	return &u, tx.SendEach(func(row db.Scanner) error {
		return row.Scan(&u.login, &u.most, &u.bytes, &u.hour, &u.wait)
	}, selectText(tx.Engine()), id)
}

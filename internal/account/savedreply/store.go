package savedreply

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

const columns = `id, account_id, title, body, created_at, updated_at`

func scan(row db.Scanner) (r Reply, err error) {
	err = row.Scan(&r.ID, &r.AccountID, &r.Title, &r.Body, &r.CreatedAt, &r.UpdatedAt)
	return r, err
}

func of(tx *db.Tx, owner account.ID) ([]Reply, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM saved_replies WHERE account_id = $1
		ORDER BY updated_at DESC, id DESC`, owner)
}

func count(tx *db.Tx, owner account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM saved_replies WHERE account_id = $1`, owner).Scan(&n)
	return n, err
}

func insert(tx *db.Tx, owner account.ID, t Text) (Reply, error) {
	return scan(tx.QueryRow(`INSERT INTO saved_replies (account_id, title, body, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $4) RETURNING `+columns, owner, t.Title, t.Body, tx.Now))
}

func update(tx *db.Tx, owner account.ID, id ID, t Text) (int64, error) {
	return tx.Exec(`UPDATE saved_replies SET title = $3, body = $4, updated_at = $5 WHERE account_id = $1 AND id = $2`,
		owner, id, t.Title, t.Body, tx.Now)
}

func remove(tx *db.Tx, owner account.ID, id ID) (int64, error) {
	return tx.Exec(`DELETE FROM saved_replies WHERE account_id = $1 AND id = $2`, owner, id)
}

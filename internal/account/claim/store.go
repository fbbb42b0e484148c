package claim

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

func of(tx *db.Tx, user account.ID) ([]Claim, error) {
	return db.QueryList(tx, func(row db.Scanner) (c Claim, err error) {
		err = row.Scan(&c.Mannequin, &c.CreatedAt)
		return c, err
	}, `SELECT mannequin, created_at FROM claims WHERE account_id = $1 ORDER BY created_at DESC, mannequin`, user)
}

func insert(tx *db.Tx, user account.ID, mannequin string) error {
	return tx.Run(`INSERT INTO claims (account_id, mannequin, created_at) VALUES ($1, $2, $3)`, user, mannequin, tx.Now)
}

// remove deletes a claim, of a user with a login, and returns how many rows there were.
func remove(tx *db.Tx, user, mannequin string) (int64, error) {
	return tx.Exec(`DELETE FROM claims WHERE mannequin = $1
		AND account_id = (SELECT id FROM accounts WHERE login_folded = $2)`, mannequin, account.Fold(user))
}

func end(tx *db.Tx, mannequin string) error {
	return tx.Run(`DELETE FROM claims WHERE mannequin = $1`, mannequin)
}

func waiting(tx *db.Tx) ([]Claim, error) {
	return db.QueryList(tx, func(row db.Scanner) (c Claim, err error) {
		err = row.Scan(&c.User, &c.Suspended, &c.Mannequin, &c.Name, &c.CreatedAt)
		return c, err
	}, `SELECT u.login, u.suspended_at IS NOT NULL, c.mannequin, COALESCE(m.name, ''), c.created_at
		FROM claims c JOIN accounts u ON u.id = c.account_id
		LEFT JOIN accounts m ON m.login_folded = c.mannequin AND m.kind = $1
		ORDER BY c.created_at, c.account_id, c.mannequin LIMIT $2`, int64(account.Mannequin), MaxShown)
}

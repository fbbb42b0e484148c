package account

import "arbor/internal/db"

// NoFactor is the condition that the user whose id a column has has no second factor (package factor).
func NoFactor(column string) string {
	return `NOT EXISTS (SELECT 1 FROM totps WHERE totps.account_id = ` + column +
		`) AND NOT EXISTS (SELECT 1 FROM passkeys WHERE passkeys.account_id = ` + column + `)`
}

// hasFactor reports whether a user has a second factor.
func hasFactor(tx *db.Tx, id ID) (has bool, err error) {
	err = tx.QueryRow(`SELECT NOT (`+NoFactor("a.id")+`) FROM accounts a WHERE a.id = $1`, id).Scan(&has)
	return has, err
}

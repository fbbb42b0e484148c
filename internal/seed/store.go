package seed

import (
	"bytes"
	"errors"

	"arbor/internal/db"
)

// held tells which seed a store was filled with; nil: with none. empty is false
// for a store that holds anything at all: everything hangs on accounts.
func held(tx *db.Tx) (digest []byte, empty bool, err error) {
	err = tx.QueryRow(`SELECT digest FROM seeds`).Scan(&digest)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return nil, false, err
	}
	var any bool
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts)`).Scan(&any)
	return bytes.Clone(digest), !any && digest == nil, err
}

// note marks the store as filled with a seed.
func note(tx *db.Tx, digest []byte) error {
	_, err := tx.Exec(`INSERT INTO seeds (digest, applied_at) VALUES ($1, $2)`, digest, tx.Now)
	return err
}

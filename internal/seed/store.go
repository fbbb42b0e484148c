package seed

import (
	"bytes"
	"errors"

	"arbor/internal/db"
)

// contents is what a store holds, as far as seeds go.
type contents struct {
	digest     []byte // of the seed that it was filled with; nil: with none
	unfinished bool   // that was not done to its end
	empty      bool   // it holds nothing at all: everything hangs on accounts
}

func held(tx *db.Tx) (c contents, err error) {
	var digest []byte
	finished := true
	err = tx.QueryRow(`SELECT digest, finished FROM seeds`).Scan(&digest, &finished)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return c, err
	}
	var registered bool
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts)`).Scan(&registered)
	return contents{bytes.Clone(digest), !finished, !registered && digest == nil}, err
}

// begin marks an empty store as one that is being filled with a seed: all that it
// holds from then on is the seed's, and of no use before finish.
func begin(tx *db.Tx, digest []byte) error {
	_, err := tx.Exec(`INSERT INTO seeds (digest, applied_at, finished) VALUES ($1, $2, FALSE)`,
		digest, tx.Now)
	return err
}

// finish marks the store as filled.
func finish(tx *db.Tx) error {
	_, err := tx.Exec(`UPDATE seeds SET applied_at = $1, finished = TRUE`, tx.Now)
	return err
}

package repo

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// PurgesOf is Service.Purges within a transaction.
func PurgesOf(tx *db.Tx, repoID ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT purges FROM repos WHERE id = $1`, repoID).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return n, err
}

// paused is an SQL expression: whether no ref moves of the repository of an id.
func paused(tx *db.Tx, id string) string {
	return `EXISTS (SELECT 1 FROM purges WHERE repo_id = ` + id + ` AND pause > ` + tx.Engine().Clock() + `)`
}

// checkPause refuses to note an object during a pause: 503.
func checkPause(tx *db.Tx, repoID ID) (err error) {
	var is bool
	if err = tx.QueryRow(`SELECT `+paused(tx, "$1"), repoID).Scan(&is); err == nil && is {
		err = errPaused()
	}
	return err
}

func errPaused() error {
	return errs.New(errs.Paused, "Objects of the repository are being purged. Try again in some seconds.")
}

// errPurged refuses what relies on objects that were looked for before a purge: they may
// be gone.
func errPurged() error {
	return errs.New(errs.Paused, "Objects of the repository were purged meanwhile. Try again.")
}

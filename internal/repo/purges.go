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

// standingsOf reads the stored state of directories. Deleted repositories are missing from the map, and
// those being deleted have there = false.
func standingsOf(tx *db.Tx, ids []ID) (map[ID]standing, error) {
	found := make(map[ID]standing, len(ids))
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var now standing
		err := row.Scan(&id, &now.purges, &now.packs, &now.there, &now.hasRefs)
		found[id] = now
		return err
	}, `SELECT r.id, r.purges, r.packs, `+NotDeleted("r")+`, EXISTS (SELECT 1 FROM refs f WHERE f.repo_id = r.id)
		FROM repos r WHERE r.id IN `+db.Values(1, len(ids)), args...)
}

// paused returns an SQL expression: whether the refs of a repository must not move.
func paused(tx *db.Tx, id string) string {
	return `EXISTS (SELECT 1 FROM purges WHERE repo_id = ` + id + ` AND pause > ` + tx.Engine().Clock() + `)`
}

// checkPause returns 503 if objects may not be recorded because of a pause.
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

// errPurged returns the error for relying on objects from before a purge, which may be gone.
func errPurged() error {
	return errs.New(errs.Paused, "Objects of the repository were purged. Try again.")
}

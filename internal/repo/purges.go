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

// standingsOf reads what the database says of folders. A repository that is gone has no standing, and one that
// is being deleted is not there.
func standingsOf(tx *db.Tx, ids []ID) (map[ID]standing, error) {
	found := make(map[ID]standing, len(ids))
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var now standing
		err := row.Scan(&id, &now.purges, &now.there, &now.hasRefs)
		found[id] = now
		return err
	}, `SELECT r.id, r.purges, `+NotDeleted("r")+`, EXISTS (SELECT 1 FROM refs f WHERE f.repo_id = r.id)
		FROM repos r WHERE r.id IN `+db.Values(1, len(ids)), args...)
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
	return errs.New(errs.Paused, "Objects of the repository were purged. Try again.")
}

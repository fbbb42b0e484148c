package repo

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// purgesOf reads Repo.Purges; 0 where there is no repository.
func purgesOf(tx *db.Tx, repoID ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT purges FROM repos WHERE id = $1`, repoID).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return n, err
}

// PurgesOf is Service.Purges within a transaction.
func PurgesOf(tx *db.Tx, repoID ID) (int64, error) { return purgesOf(tx, repoID) }

// purgesIn reads Repo.Purges of those of the repositories that exist.
func purgesIn(tx *db.Tx, ids []ID) (map[ID]int64, error) {
	found := map[ID]int64{}
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := tx.Query(`SELECT id, purges FROM repos WHERE id IN `+db.ValuesFrom(1, 1, len(ids)), anys(ids)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id ID
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		found[id] = n
	}
	return found, rows.Err()
}

// errPurged refuses what relies on objects that were looked for before a purge: they may
// be gone.
func errPurged() error {
	return errs.New(errs.Unavailable, "Objects of the repository were purged meanwhile. Try again.")
}

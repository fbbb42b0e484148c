package tracker

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// Write is db.DB.Write for a transaction that takes the repository's row first, by [Lock] or as it does:
// others that do so wait for it where that costs least.
func Write(ctx context.Context, d *db.DB, repoID repo.ID, fn func(*db.Tx) error) error {
	return d.WriteInTurn(ctx, repoID, fn)
}

// Lock takes the repository's row for the rest of the transaction, and raises
// its issues_generation: payloads of its issues change. Queries that db.Tx.Ahead
// names before are answered in its trip. Error: 404 when the repository is gone.
func Lock(tx *db.Tx, repoID repo.ID) error {
	hook.WatchAhead(tx, repoID)
	n, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, repoID)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return hook.Watch(tx, repoID)
}

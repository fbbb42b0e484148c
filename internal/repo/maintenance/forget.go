package maintenance

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// Forgetter removes the notes of unreached objects that can no longer be found.
type Forgetter struct {
	db  *db.DB
	log *slog.Logger
}

// NewForgetter returns a forgetter. Several may work on one database.
func NewForgetter(d *db.DB, log *slog.Logger) *Forgetter { return &Forgetter{d, log} }

const (
	forgetEvery  = time.Hour
	forgetAtOnce = 1000 // notes in one transaction
)

// Run forgets until ctx is done. It returns nil: failures are logged and tried again.
func (f *Forgetter) Run(ctx context.Context) error {
	return db.Upkeep(ctx, f.log, forgetEvery, "notes of unreached objects were not removed", f.Forget)
}

// Forget removes all notes that are too old.
func (f *Forgetter) Forget(ctx context.Context) error {
	for {
		var n int64
		err := f.db.Write(ctx, func(tx *db.Tx) (err error) {
			n, err = forget(tx, tx.Now-repo.KeptFor, forgetAtOnce)
			return err
		})
		if err != nil || n < forgetAtOnce {
			return err
		}
	}
}

// forget removes notes from before a time, the oldest first, and tells how many
// there were.
func forget(tx *db.Tx, before db.Time, most int) (int64, error) {
	return tx.Exec(`DELETE FROM unreached_objects WHERE (repo_id, sha) IN
		(SELECT repo_id, sha FROM unreached_objects WHERE at <= $1 ORDER BY at LIMIT $2)`, before, most)
}

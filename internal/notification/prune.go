package notification

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Pruner removes threads that are too old, or too many for an account, and subjects without threads.
type Pruner struct {
	db  *db.DB
	log *slog.Logger
}

// NewPruner returns a pruner. Several may work on one database.
func NewPruner(d *db.DB, log *slog.Logger) *Pruner { return &Pruner{d, log} }

const (
	pruneEvery = 10 * time.Minute
	perPrune   = db.MaxValues // accounts, threads or subjects at a time
)

// Run prunes until ctx is done. It returns nil: what fails is logged and tried again.
func (p *Pruner) Run(ctx context.Context) error {
	return db.Upkeep(ctx, p.log, pruneEvery, "old notifications were not removed", p.Prune)
}

// Prune removes, some rows a transaction, threads that were read and are three months old, all that are five
// months old, and of each account those beyond 2000.
func (p *Pruner) Prune(ctx context.Context) error {
	var after account.ID
	err := db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		var next account.ID
		var ids []int64
		if err := p.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
			next, ids, err = surplus(tx, after)
			return err
		}); err != nil {
			return false, err
		}
		if err := p.remove(ctx, `notification_threads`, ids); err != nil {
			return false, err
		}
		if len(ids) < perPrune { // else these accounts have more
			after = next
		}
		return len(ids) == perPrune || next != 0, nil
	})
	if err != nil {
		return err
	}
	return p.forgetSubjects(ctx)
}

// forgetSubjects removes the subjects without a thread or a subscription.
func (p *Pruner) forgetSubjects(ctx context.Context) error {
	var after int64
	return db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		var next int64
		var ids []int64
		if err := p.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
			next, ids, err = lonely(tx, after)
			return err
		}); err != nil {
			return false, err
		}
		after = next
		return next != 0, p.remove(ctx, `notification_subjects`, ids)
	})
}

func (p *Pruner) remove(ctx context.Context, table string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return p.db.Write(ctx, func(tx *db.Tx) error { return removeRows(tx, table, ids) })
}

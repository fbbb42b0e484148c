package hook

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
)

// Pruner removes old deliveries.
type Pruner struct {
	db     *db.DB
	log    *slog.Logger
	pruned time.Time // start of the last successful run; older rows were looked at
}

// NewPruner returns a pruner. Several may work on one database.
func NewPruner(d *db.DB, log *slog.Logger) *Pruner { return &Pruner{db: d, log: log} }

const (
	pruneEvery = time.Minute
	perPrune   = 500             // deliveries that one transaction removes
	slack      = 5 * time.Minute // by which one looks back further: attempts and transactions take a while
)

// Run prunes until ctx is done. It returns nil: what fails is logged and tried again.
func (p *Pruner) Run(ctx context.Context) error {
	return db.Upkeep(ctx, p.log, pruneEvery, "old deliveries of hooks were not removed", p.Prune)
}

// Prune deletes in batches: deliveries attempted more than three days ago, those that are no longer
// retried, those beyond each webhook's limits, and webhooks of deleted organizations. Only one Prune runs
// at a time.
func (p *Pruner) Prune(ctx context.Context) error {
	began := time.Now()
	lately := min(began.Sub(p.pruned), keepFor) + slack
	kept := func(tx *db.Tx) ([]int64, error) { return surplus(tx, lately, false, maxKept) }
	waiting := func(tx *db.Tx) ([]int64, error) { return surplus(tx, lately, true, maxQueue) }
	for _, surplus := range []func(*db.Tx) ([]int64, error){aged, stale, kept, waiting} {
		err := db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
			var ids []int64
			if err := p.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
				ids, err = surplus(tx)
				return err
			}); err != nil || len(ids) == 0 {
				return false, err
			}
			return len(ids) == perPrune, p.db.Write(ctx, func(tx *db.Tx) error {
				return removeDeliveries(tx, ids)
			})
		})
		if err != nil {
			return err
		}
	}
	err := db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		return more, p.db.Write(ctx, func(tx *db.Tx) error {
			n, err := removeTold(tx)
			more = n == perPrune
			return err
		})
	})
	if err != nil {
		return err
	}
	p.pruned = began
	told, err := db.Get(ctx, p.db, func(tx *db.Tx) ([]int64, error) { return bequeathed(tx) })
	if err != nil || len(told) == 0 {
		return err
	}
	return p.db.Write(ctx, func(tx *db.Tx) error {
		for _, id := range told {
			if err := remove(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

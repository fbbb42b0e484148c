package audit

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
)

// DefaultDays is how many days events stay unless the operator says otherwise.
const DefaultDays = 400

// How events are removed: so many in one transaction, which do not keep writers waiting.
const (
	perTurn    = 500
	pruneEvery = time.Hour
)

// Pruner removes events that are too old.
type Pruner struct {
	db   *db.DB
	log  *slog.Logger
	keep time.Duration
}

// NewPruner returns a pruner that removes events after days days, 0 for never. Several may work on
// one database.
func NewPruner(d *db.DB, log *slog.Logger, days int) *Pruner {
	return &Pruner{d, log, time.Duration(days) * 24 * time.Hour}
}

// Run prunes until ctx is done. It returns nil: what fails is logged and tried again.
func (p *Pruner) Run(ctx context.Context) error {
	if p.keep == 0 {
		return nil
	}
	return db.Upkeep(ctx, p.log, pruneEvery, "old events of the audit log were not removed", p.Prune)
}

// Prune removes all events that are too old, by turns that leave most of the time to others.
func (p *Pruner) Prune(ctx context.Context) error { return db.RunInSteps(ctx, p.turn) }

// turn removes the oldest events, unless another node is doing so.
func (p *Pruner) turn(ctx context.Context) (more bool, err error) {
	var before db.Time
	var due bool
	err = p.db.Read(ctx, func(tx *db.Tx) (err error) {
		if before, err = tx.Clock(); err == nil {
			before -= db.Time(p.keep.Microseconds())
			due, err = anyBefore(tx, before)
		}
		return err
	})
	if err != nil || !due {
		return false, err
	}
	err = p.db.Write(ctx, func(tx *db.Tx) error {
		more = false
		mine, err := takeTurn(tx)
		if err != nil || !mine {
			return err
		}
		removed, err := removeBefore(tx, before, perTurn)
		more = removed == perTurn
		return err
	})
	return more, err
}

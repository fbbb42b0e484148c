package activity

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
)

// kept is the number of activities kept in each range: of a repository, of an actor and of an organization,
// public and other ones separately. Feeds never read more. Public feeds read only Newest, so enough remain
// if repositories are deleted or hidden.
const kept = maxHidden

// Pruning: a row is deleted when all ranges that contain it have kept newer rows. Rows are examined in laps
// through the table: a turn examines the next perTurn rows, oldest first, and each half of perTurn new rows
// earns a turn. So the work depends on new rows and not on the size of the table, a lap ends before the
// table has doubled, and an idle server does no work.
const (
	perTurn    = 500
	pruneEvery = time.Minute
)

// Pruner deletes activities that no feed can show.
type Pruner struct {
	db      *db.DB
	log     *slog.Logger
	kept    int
	perTurn int
}

// NewPruner returns a Pruner. Several may work on one database.
func NewPruner(d *db.DB, log *slog.Logger) *Pruner { return &Pruner{d, log, kept, perTurn} }

// Run prunes until ctx is done. It returns nil: errors are logged and retried.
func (p *Pruner) Run(ctx context.Context) error {
	turns := func(ctx context.Context) error { return db.RunInSteps(ctx, p.turn) }
	return db.Upkeep(ctx, p.log, pruneEvery, "old activities were not removed", turns)
}

// turn takes one turn, if one is due. Rows are examined in a snapshot and deleted in a separate
// transaction.
func (p *Pruner) turn(ctx context.Context) (more bool, err error) {
	var from, to progress
	var gone []int64
	err = p.db.Read(ctx, func(tx *db.Tx) error {
		var newest int64
		if from, newest, err = readProgress(tx); err != nil {
			return err
		}
		if more = newest-from.paid >= int64(p.perTurn)/2; !more {
			return nil
		}
		to = from
		if from.position == 0 {
			to.began = newest
		}
		to.paid += int64(p.perTurn) / 2
		var seen int
		if seen, to.position, gone, err = p.look(tx, from.position); err != nil {
			return err
		}
		if seen < p.perTurn { // the lap ends
			to.position, to.paid = 0, max(to.paid, to.began)
		}
		return nil
	})
	if err != nil || !more {
		return false, err
	}
	err = p.db.Write(ctx, func(tx *db.Tx) error {
		mine, err := advance(tx, from, to)
		if err != nil || !mine {
			return err // another node took this turn
		}
		return remove(tx, gone)
	})
	return true, err
}

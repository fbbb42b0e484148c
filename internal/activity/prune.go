package activity

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
)

// kept is how many activities of each range stay: of a repository, an actor and an
// organization, in public and elsewhere each. No feed reads more. Public feeds read only
// Newest, so that enough are left when repositories are deleted or hidden.
const kept = maxHidden

// How activities are pruned. A row goes when all ranges that it is in have kept
// newer ones. That is found out on laps through the table: each turn looks at
// the next perTurn rows, oldest first, and there is a turn for as many new rows
// as half of that. So the work grows with what happens, never with what is
// stored; a lap ends before the table has doubled; and an idle server does none.
const (
	perTurn    = 500
	pruneEvery = time.Minute
)

// Pruner removes the activities that no feed can tell of any more.
type Pruner struct {
	db      *db.DB
	log     *slog.Logger
	kept    int
	perTurn int
}

// NewPruner makes a pruner, of which several may work on one database.
func NewPruner(d *db.DB, log *slog.Logger) *Pruner { return &Pruner{d, log, kept, perTurn} }

// Run prunes until ctx is done. It returns nil: what fails is logged and tried
// again.
func (p *Pruner) Run(ctx context.Context) error {
	turns := func(ctx context.Context) error { return db.ByTurns(ctx, p.turn) }
	return db.Upkeep(ctx, p.log, pruneEvery, "old activities were not removed", turns)
}

// turn takes one turn, if one is due. Rows are looked at in a snapshot, and go
// in a transaction that does nothing else.
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

package activity

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// Kept is how many activities of each range stay.
const Kept = kept

// PerTurn is how many are looked at in a turn.
const PerTurn = perTurn

// Insert adds what happened in a repository.
func Insert(tx *db.Tx, repoID repo.ID, list ...Activity) error { return insert(tx, repoID, list...) }

// Prune takes all turns that are due, without rests, of a pruner that keeps so
// many activities of each range and looks at so many in a turn.
func Prune(ctx context.Context, d *db.DB, kept, perTurn int) error {
	p := &Pruner{db: d, kept: kept, perTurn: perTurn}
	for {
		if more, err := p.turn(ctx); err != nil || !more {
			return err
		}
	}
}

package repo

import (
	"context"
	"errors"
	"time"

	"arbor/internal/db"
	"arbor/internal/git/wire"
)

// InsertAs adds a repository as its maker does who reserved an id.
func (s *Service) InsertAs(ctx context.Context, n NewRepo, id ID) (*Repo, error) {
	return s.insert(ctx, nil, n, id, nil, 0)
}

// Polling does what Run does from time to time.
func (s *Service) Polling(ctx context.Context) error {
	return errors.Join(s.resume(ctx), s.removeDiscarded(ctx), s.sweepDue(ctx))
}

// TakePacking leases the packing of a repository and gives the lease's time; 0:
// somebody else has it.
func TakePacking(tx *db.Tx, repoID ID) (db.Time, error) {
	p, _, err := takePacking(tx, repoID, time.Minute)
	if p.lease == nil {
		return 0, err
	}
	return p.lease.Until, err
}

// Look packs a repository, if its packs need it.
func (s *Service) Look(ctx context.Context, id ID) { s.look(ctx, id) }

// MaxRefs is how many refs a repository may have after a push.
const MaxRefs = maxRefs

// RefusedForCount is what becomes of each command in a repository of so many refs.
func RefusedForCount(have int, commands []wire.Command) []wire.RefResult {
	p := &push{request: &wire.PushRequest{Commands: commands}, results: make([]wire.RefResult, len(commands))}
	p.checkCount(have)
	return p.results
}

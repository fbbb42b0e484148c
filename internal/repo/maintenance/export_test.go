package maintenance

import (
	"context"
	"errors"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// Polling does what Run does from time to time.
func (s *Service) Polling(ctx context.Context) error {
	return errors.Join(s.resume(ctx), s.removeDiscarded(ctx), s.sweepDue(ctx))
}

// Lap looks through the data folder of this process as a server does within one lap after its start.
func (s *Service) Lap(ctx context.Context) error {
	now := time.Now()
	var all error
	for range repo.Shards + 1 {
		all = errors.Join(all, s.sweepFolderDue(ctx, now))
		now = now.Add(sweepLap / repo.Shards)
	}
	return all
}

// TakePacking leases the packing of a repository and gives the lease's time; 0:
// somebody else has it.
func TakePacking(tx *db.Tx, repoID repo.ID) (db.Time, error) {
	p, _, err := takePacking(tx, repoID, time.Minute)
	if p.lease == nil {
		return 0, err
	}
	return p.lease.Until, err
}

// Look packs a repository, if its packs need it.
func (s *Service) Look(ctx context.Context, id repo.ID) { s.look(ctx, id) }

package maintenance

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// resume queues packings whose holders died, and those that failed some time ago.
func (s *Service) resume(ctx context.Context) error {
	due, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]repo.ID, error) { return duePackings(tx, pollMost) })
	if err != nil {
		return err
	}
	for _, id := range due {
		if u, bundle, err := s.upkeep(ctx, id); err != nil || u.Needed || bundle {
			s.repos.Wrote(id)
			continue
		}
		if err := s.db.Write(ctx, func(tx *db.Tx) error { return forgetPacking(tx, id) }); err != nil {
			return err
		}
	}
	return nil
}

// look finds out how much packing a repository needs. A small one it does at once, so
// that this never waits for a large one, which it leaves to the other worker. A new pack
// coexists with the old ones for hours, so none is written on a disk that is nearly full.
func (s *Service) look(ctx context.Context, id repo.ID) {
	if s.repos.Room.Check() != nil {
		s.packing.AddAfter(id, leaseTime)
		return
	}
	u, bundle, err := s.upkeep(ctx, id)
	switch {
	case errs.Is(err, errs.NotFound): // it has been deleted
	case err != nil && ctx.Err() == nil:
		s.log.WarnContext(ctx, "the packs of a repository cannot be listed", "repository", id, "error", err)
	case err != nil || !u.Needed && !bundle:
	case u.Bytes > smallJob || bundle:
		s.large.Add(id)
	default:
		s.pack(ctx, id, false)
	}
}

// upkeep finds out what the packs of a repository need, and whether its bundle is due.
func (s *Service) upkeep(ctx context.Context, id repo.ID) (u git.Upkeep, bundle bool, err error) {
	objects, release, err := s.repos.GitOf(ctx, id)
	if err != nil {
		return u, false, err
	}
	defer release()
	if u, err = objects.Upkeep(); err == nil && objects.IsKept() {
		bundle = s.Bundles.BundleDue(ctx, id)
	}
	return u, bundle, err
}

// packLarge packs a repository whose packing takes long, and makes its bundle.
func (s *Service) packLarge(ctx context.Context, id repo.ID) { s.pack(ctx, id, true) }

// packingLease is the right to change a repository's packs.
type packingLease struct {
	lease *db.Lease // nil: another node has it
	tries int64
	now   db.Time // by the database's clock
}

// maxWait is the longest time between two tries of a packing that fails.
const maxWait = 6 * time.Hour

// pack packs a repository, unless another node does. A row stands for the work until it
// is done, so it is tried again after a failure or the death of the node.
func (s *Service) pack(ctx context.Context, id repo.ID, bundle bool) {
	if s.repos.Room.Check() != nil {
		s.packing.AddAfter(id, leaseTime)
		return
	}
	ctx = journal.WithJob(ctx, "packing")
	var p packingLease
	var wait time.Duration
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		p, wait, err = takePacking(tx, id, leaseTime)
		return err
	})
	if err != nil || p.lease == nil {
		if wait > 0 || err != nil { // another node packs it, or it failed and waits
			s.packing.AddAfter(id, max(time.Second, min(wait, leaseTime)))
		}
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "a packing was not leased", "repository", id, "error", err)
		}
		return
	}
	start := time.Now()
	var again time.Duration
	lease, failed := s.db.Hold(ctx, packings, p.lease, leaseTime, func(ctx context.Context) (err error) {
		objects, release, err := s.repos.GitOf(ctx, id)
		if err != nil {
			return err
		}
		defer release()
		again, err = objects.Maintain(ctx, p.now.Time())
		if err == nil && bundle && objects.IsKept() {
			s.Bundles.MakeBundle(ctx, id)
		}
		return err
	})
	p.lease = lease
	if took := time.Since(start); failed == nil && (p.tries > 2 || took > time.Second) {
		s.log.InfoContext(ctx, "packed", "repository", id, "try", p.tries, "took", took)
	}
	s.endPacking(ctx, id, p, again, failed)
}

// endPacking ends a lease: the row goes, or is due again after some time. When the server
// stops, the row is due at once, for the next node.
func (s *Service) endPacking(
	ctx context.Context, id repo.ID, p packingLease, again time.Duration, failed error,
) {
	stopped := ctx.Err() != nil
	if failed != nil && !stopped {
		again = min(time.Minute<<min(p.tries-1, 20), maxWait)
		level := slog.LevelDebug
		if p.tries == 1 {
			level = slog.LevelWarn
		}
		s.log.Log(ctx, level, "packing failed, and is tried again",
			"repository", id, "try", p.tries, "in", again, "error", failed)
	}
	err := s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		switch {
		case stopped:
			return packings.PutOff(tx, p.lease, 0)
		case failed == nil && again == 0:
			return packings.Remove(tx, p.lease)
		case failed == nil:
			if err := succeeded(tx, id); err != nil {
				return err
			}
		}
		return packings.PutOff(tx, p.lease, again)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) {
		s.log.WarnContext(ctx, "a packing stays leased until its time is over", "repository", id,
			"error", err)
	}
	if failed == nil && again > 0 {
		s.packing.AddAfter(id, again+again/10)
	}
}

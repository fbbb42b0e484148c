package repo

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
)

// packingQueue holds the repositories that were written to and may need their
// packs consolidated; each once, in the order of their first write.
type packingQueue struct {
	mu      sync.Mutex
	waiting []ID
	queued  map[ID]bool // those in waiting, and those that are added later
	wake    chan struct{}
}

func newPackingQueue() *packingQueue {
	return &packingQueue{queued: map[ID]bool{}, wake: make(chan struct{}, 1)}
}

func (q *packingQueue) add(id ID) { q.addAfter(id, 0) }

// addAfter adds a repository after some time, unless it is queued already.
func (q *packingQueue) addAfter(id ID, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued[id] {
		return
	}
	q.queued[id] = true
	if wait > 0 {
		time.AfterFunc(wait, func() { q.ready(id) })
		return
	}
	q.readyLocked(id)
}

func (q *packingQueue) ready(id ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.readyLocked(id)
}

func (q *packingQueue) readyLocked(id ID) {
	q.waiting = append(q.waiting, id)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *packingQueue) next() (ID, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return 0, false
	}
	id := q.waiting[0]
	q.waiting = q.waiting[1:]
	delete(q.queued, id)
	return id, true
}

// work calls fn with repository after repository until ctx is done.
func (q *packingQueue) work(ctx context.Context, fn func(context.Context, ID)) {
	for ctx.Err() == nil {
		if id, ok := q.next(); ok {
			fn(ctx, id)
			continue
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

// Wrote notes that objects were written to a repository beside this package, so
// that its packs are consolidated in time.
func (s *Service) Wrote(repoID ID) { s.packing.add(repoID) }

const (
	leaseTime = time.Minute      // after which another node takes over the work of a dead one
	pollTime  = 15 * time.Second // between looks for such work
	pollMost  = 100              // of it at a time
	smallJob  = 64 << 20         // bytes that a packing may read in the worker for small ones
)

// Run keeps the repositories' folders in order until ctx is done. One worker looks at
// each repository that was written to and does small packings; another one does large
// ones, one after the other. Beside them a slow round through all folders finds the work
// that a dead node left, and folders that nobody needs any more.
func (s *Service) Run(ctx context.Context) error {
	defer s.ending.Wait()
	var workers sync.WaitGroup
	workers.Go(func() { s.packing.work(ctx, s.look) })
	workers.Go(func() { s.large.work(ctx, s.pack) })
	workers.Go(func() { s.poll(ctx) })
	workers.Wait()
	return nil
}

// poll takes up packings that are in no queue of this process.
func (s *Service) poll(ctx context.Context) {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		if err := s.resume(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "looking for packs to consolidate failed", "error", err)
		}
		if err := s.removeDiscarded(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "removing the folders of deleted repositories failed", "error", err)
		}
		if err := s.sweepDue(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sweeping the repositories' folders failed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// resume queues packings whose holders died, and those that failed some time ago.
func (s *Service) resume(ctx context.Context) error {
	var due []ID
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = duePackings(tx, pollMost)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range due {
		if u, err := s.upkeep(ctx, id); err != nil || u.Needed {
			s.packing.add(id)
			continue
		}
		if err := s.db.Write(ctx, func(tx *db.Tx) error { return forgetPacking(tx, id) }); err != nil {
			return err
		}
	}
	return nil
}

// look finds out how much packing a repository needs. A small one it does at once, so
// that this never waits for a large one, which it leaves to the other worker. A new pack is
// beside the old ones for hours, so none is made on a disk that is nearly full.
func (s *Service) look(ctx context.Context, id ID) {
	if s.Room.Check() != nil {
		s.packing.addAfter(id, leaseTime)
		return
	}
	u, err := s.upkeep(ctx, id)
	switch {
	case errs.Is(err, errs.NotFound): // it was deleted meanwhile
	case err != nil && ctx.Err() == nil:
		s.log.WarnContext(ctx, "the packs of a repository cannot be listed", "repository", id, "error", err)
	case err != nil || !u.Needed:
	case u.Bytes > smallJob:
		s.large.add(id)
	default:
		s.pack(ctx, id)
	}
}

// upkeep finds out what the packs of a repository need.
func (s *Service) upkeep(ctx context.Context, id ID) (git.Upkeep, error) {
	objects, release, err := s.GitOf(ctx, id)
	if err != nil {
		return git.Upkeep{}, err
	}
	defer release()
	return objects.Upkeep()
}

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
func (s *Service) pack(ctx context.Context, id ID) {
	if s.Room.Check() != nil {
		s.packing.addAfter(id, leaseTime)
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
			s.packing.addAfter(id, max(time.Second, min(wait, leaseTime)))
		}
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "a packing was not leased", "repository", id, "error", err)
		}
		return
	}
	start := time.Now()
	var again time.Duration
	lease, failed := s.db.Hold(ctx, packings, p.lease, leaseTime, func(ctx context.Context) (err error) {
		objects, release, err := s.GitOf(ctx, id)
		if err != nil {
			return err
		}
		defer release()
		again, err = objects.Maintain(ctx, p.now.Time())
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
	ctx context.Context, id ID, p packingLease, again time.Duration, failed error,
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
		s.log.WarnContext(ctx, "a packing stays leased until its time is over", "repository", id, "error", err)
	}
	if failed == nil && again > 0 {
		s.packing.addAfter(id, again+again/10)
	}
}

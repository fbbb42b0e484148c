package repo

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
)

// packingQueue holds the repositories that were written to and may need their
// packs consolidated; each once, in the order of their first write.
type packingQueue struct {
	mu      sync.Mutex
	waiting []int64
	queued  map[int64]bool
	wake    chan struct{}
}

func newPackingQueue() packingQueue {
	return packingQueue{queued: map[int64]bool{}, wake: make(chan struct{}, 1)}
}

func (q *packingQueue) add(id int64) {
	q.mu.Lock()
	if !q.queued[id] {
		q.queued[id] = true
		q.waiting = append(q.waiting, id)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *packingQueue) next() (int64, bool) {
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

// Wrote notes that objects were written to a repository beside this package, so
// that its packs are consolidated in time.
func (s *Service) Wrote(repoID int64) { s.packing.add(repoID) }

// Run keeps the repositories' directories in order until ctx is done: first
// what an earlier run left behind, then the packing of what is written. One
// repository at a time, and nothing waits for it.
func (s *Service) Run(ctx context.Context) error {
	defer s.ending.Wait()
	if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("sweeping the repositories' directories failed", "error", err)
	}
	for {
		id, ok := s.packing.next()
		if !ok {
			select {
			case <-s.packing.wake:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		if err := s.pack(ctx, id); err != nil && ctx.Err() == nil {
			s.log.Warn("packing failed", "repository", id, "error", err)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// pack consolidates a repository's packs when there are many: small ones at
// once and cheaply, the others by git.
func (s *Service) pack(ctx context.Context, id int64) error {
	objects := s.Git(id)
	if !objects.Exists() {
		return nil
	}
	if err := objects.MergeSmall(ctx); err != nil {
		return err
	}
	needed, err := objects.NeedsPacking()
	if err != nil {
		return err
	}
	if !needed {
		return s.graph(ctx, objects)
	}
	start := time.Now()
	if err := objects.Pack(ctx); err != nil {
		return err
	}
	s.log.Info("packed", "repository", id, "took", time.Since(start))
	return nil
}

// graph writes the commit-graph of a repository that got a large pack.
func (s *Service) graph(ctx context.Context, objects *git.Repository) error {
	needed, err := objects.NeedsGraph()
	if err != nil || !needed {
		return err
	}
	return objects.WriteGraph(ctx)
}

// staleQuarantine is the age past which a quarantine's owner is dead: longer
// than a push may take.
const staleQuarantine = 3 * time.Hour

// sweep removes directories of repositories that are no more and quarantines of
// pushes that died with their server, and queues the rest for packing.
func (s *Service) sweep(ctx context.Context) error {
	shards, err := os.ReadDir(s.dir)
	if os.IsNotExist(err) {
		return nil
	}
	for _, shard := range shards {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.sweepShard(ctx, filepath.Join(s.dir, shard.Name())); err != nil {
			return err
		}
	}
	return err
}

func (s *Service) sweepShard(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "gone-") {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		} else if id, err := strconv.ParseInt(strings.TrimSuffix(e.Name(), ".git"), 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return chunks(ids, func(part []int64) error { return s.sweepIDs(ctx, part) })
}

// sweepIDs looks after directories that are named by the ids.
func (s *Service) sweepIDs(ctx context.Context, ids []int64) error {
	var live map[int64]bool
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		var err error
		live, err = repoIDs(tx, ids)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !live[id] {
			if err := s.sweepDead(ctx, id); err != nil {
				return err
			}
			continue
		}
		if err := s.Git(id).SweepQuarantines(staleQuarantine); err != nil {
			return err
		}
		s.packing.add(id)
	}
	return nil
}

// sweepDead removes the directory of a repository that is gone, and leaves that
// of one which is being made.
func (s *Service) sweepDead(ctx context.Context, id int64) error {
	unlock := s.locks.lock(id)
	defer unlock()
	var live map[int64]bool
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		live, err = repoIDs(tx, []int64{id})
		return err
	})
	if err == nil && !live[id] {
		s.Git(id).Forget()
		s.discard(s.path(id))
	}
	return err
}

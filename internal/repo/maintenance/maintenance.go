// Package maintenance keeps the repositories' folders in order, in the background:
//
//	packs that are consolidated, bundles of them      packing.go
//	folders of deleted repositories                   discard.go
//	folders without a row, and what is left in others sweep.go
//	notes of unreached objects that are too old       forget.go
//	free pages of SQLite's file                       shrink.go
//
// Tables: packings, discarded, folder_sweep.
package maintenance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/keyed"
	"arbor/internal/packs"
	"arbor/internal/repo"
)

// Sweeper removes leftovers from a store that all nodes share: in one of its 256 folders, what is older than grace. Only
// one node at a time calls it.
type Sweeper interface {
	SweepShard(ctx context.Context, shard int64, grace time.Duration) error
}

// Service does the work of this process.
type Service struct {
	db     *db.DB
	git    *git.Git
	log    *slog.Logger
	repos  *repo.Service
	files  *file.Store
	shared []Sweeper
	lap    lap // of poll

	// Bundles are made after packing. Set before Run.
	Bundles *packs.Service

	packing *keyed.Queue[repo.ID] // repositories that were written to
	large   *keyed.Queue[repo.ID] // those whose packing takes long
}

// New returns the service. It sweeps the folders of repositories and files, and stores that all nodes share.
func New(
	d *db.DB, g *git.Git, log *slog.Logger, repos *repo.Service, files *file.Store, shared ...Sweeper,
) *Service {
	return &Service{db: d, git: g, log: log, repos: repos, files: files, shared: append(shared, files),
		packing: repos.Written(), large: keyed.NewQueue[repo.ID]()}
}

const (
	leaseTime = time.Minute      // after which another node takes over the work of a dead one
	pollTime  = 15 * time.Second // between looks for such work
	pollMost  = 100              // of it at a time
	smallJob  = 64 << 20         // bytes that a packing may read in the worker for small ones
)

// Run keeps the repositories' folders in order until ctx is done. One worker looks at
// each repository that was written to and does small packings; another one does large
// ones and makes bundles, one after the other. Beside them a slow round through all folders finds the work
// that a dead node left, and folders that are no longer needed.
func (s *Service) Run(ctx context.Context) error {
	defer s.repos.Wait()
	var workers sync.WaitGroup
	workers.Go(func() { s.packing.Work(ctx, s.look) })
	workers.Go(func() { s.large.Work(ctx, s.packLarge) })
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
		if err := errors.Join(s.sweepDue(ctx), s.sweepFolderDue(ctx, time.Now())); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sweeping what is left over failed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

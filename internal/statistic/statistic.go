// Package statistic counts the commits of default branches: by author, week, day and hour.
//
//	statistic.go  the worker
//	count.go      counting a history
//	store.go      the SQL
//	api.go        GET /repos/{owner}/{repo}/stats/...
//	payload.go    the answers
//
// Tables: repo_statistics, statistics_jobs.
//
// Nothing is counted until somebody asks. The first request adds a job and answers 202, and Run counts in the
// background, at most a fifth of the time. The counts are kept for the head of the default branch, so the same
// history is not walked twice, and after a push the next request has the new one counted. Merges do not count.
//
// Counts name authors by address; whose account an address is, is looked up when they are shown. They are of a
// branch that whoever may read the code sees anyway, so a change of visibility changes nothing in them, and they
// go with the repository.
package statistic

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

const (
	leaseTime = 30 * time.Second // then the job counts as abandoned
	pollTime  = 2 * time.Second  // interval of looking for jobs of other processes
	workTime  = time.Minute      // limit for one repository
	maxTries  = 5                // then a failing job is dropped until somebody asks again
)

// asked is rung when a job was added.
const asked = "statistics"

// Service counts commits.
type Service struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger
	one   sync.Mutex // serializes the work on repositories
	last  repo.ID    // the last repository; guarded by one
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, log: log}
}

// Run counts what requests wait for until ctx is done. It returns nil: errors are logged and the job is retried.
func (s *Service) Run(ctx context.Context) error {
	db.Follow(ctx, s.db.Bell(asked), pollTime, func(ctx context.Context) {
		_ = db.ByTurns(ctx, func(ctx context.Context) (bool, error) { return s.next(ctx), nil })
	})
	return nil
}

// Settle counts everything that was asked for before the call. It is for tests: errors are logged, and the job is
// left to Run.
func (s *Service) Settle(ctx context.Context) error {
	for ctx.Err() == nil && s.next(ctx) {
	}
	return ctx.Err()
}

// next processes one repository, and reports whether more may be waiting.
func (s *Service) next(ctx context.Context) (more bool) {
	s.one.Lock()
	defer s.one.Unlock()
	w, err := s.take(ctx)
	if err != nil || w == nil {
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "looking for statistics to count failed", "error", err)
		}
		return false
	}
	ctx = journal.WithJob(ctx, "statistics")
	limited, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	var found *counts
	lease, failed := s.db.Hold(limited, jobs, w.lease, leaseTime, func(ctx context.Context) (err error) {
		found, err = s.count(ctx, w)
		return err
	})
	w.lease = lease
	if errs.Is(failed, errs.NotFound) { // the repository or its branch was just deleted
		failed, found = nil, nil
	}
	if failed != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "counting a repository's commits failed",
			"repository", w.repoID, "try", w.tries, "error", failed)
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		switch {
		case failed == nil:
			return w.end(tx, found)
		case ctx.Err() != nil: // stopping: the next worker continues
			return jobs.PutOff(tx, w.lease, 0)
		case w.tries >= maxTries:
			return jobs.Remove(tx, w.lease)
		}
		return jobs.PutOff(tx, w.lease, time.Minute<<w.tries)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) {
		s.log.WarnContext(ctx, "a repository's statistics wait for a later time", "error", err)
		return false
	}
	return true
}

// count walks the history of a repository's default branch; nil if it has none. Error: 404.
func (s *Service) count(ctx context.Context, w *work) (*counts, error) {
	if w.tip == "" {
		return nil, nil
	}
	objects, release, err := s.repos.GitOf(ctx, w.repoID)
	if err != nil {
		return nil, err
	}
	defer release()
	return countHistory(ctx, objects, w.tip)
}

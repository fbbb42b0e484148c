// Package deletion deletes labels and milestones, which removes them from their issues, and the rows of
// deleted repositories. Packages label and milestone implement the other operations on those. Package forge
// starts and completes the deletion of a repository.
//
//	label.go, milestone.go   deleting them
//	repository.go            emptying a deleted repository
//	store*.go                the SQL
//	api.go                   the handlers; routes.go: their routes
//
// It changes many issues at once without [issue.Change], so it updates their postings and counters itself.
// Large deletions are done in batches by a worker. Its jobs are the rows of deleted_labels,
// deleted_milestones and deleted_repos, so they survive a restart.
package deletion

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// atOnce is the number of issues in a batch. On SQLite other writes wait for the transaction.
const atOnce = 200

// pollTime is the interval of looking for jobs of other processes, and the wait after an error.
const pollTime = 10 * time.Second

// topic is the bell that wakes the worker.
const topic = "deletion"

// Forge completes the deletion of a repository.
type Forge interface {
	// FinishDeletion deletes a repository after most of its rows were removed. Error: 404.
	FinishDeletion(tx *db.Tx, id repo.ID) error
}

// Service deletes labels, milestones and repositories.
type Service struct {
	db    *db.DB
	log   *slog.Logger
	forge Forge
}

// New returns a Service.
func New(d *db.DB, log *slog.Logger, forge Forge) *Service { return &Service{d, log, forge} }

// Run processes jobs until ctx is done, including those left by an earlier process. It returns nil: errors
// are logged and the job is retried.
func (s *Service) Run(ctx context.Context) error {
	db.RunOnBell(ctx, s.db.Bell(topic), pollTime, func(ctx context.Context) {
		s.work(ctx, "a deleted label is still on some issues", s.stripSome)
		s.work(ctx, "issues are still in a deleted milestone", s.leaveSome)
		s.work(ctx, "a deleted repository is kept for too long", s.endSome)
		s.work(ctx, "a deleted repository is not removed yet", s.emptySome)
	})
	return nil
}

// work processes the jobs of one kind in order of their ids. some processes a batch of the first job with
// an id larger than after and returns its id, or 0 if there is none. A failed job is retried in the next
// round; the others go on.
func (s *Service) work(ctx context.Context, problem string,
	some func(ctx context.Context, after int64) (job int64, err error),
) {
	for after := int64(0); ctx.Err() == nil; {
		job, err := some(ctx, after)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, problem, "error", err)
		}
		if err != nil {
			after = job
		}
		if job == 0 {
			return
		}
	}
}

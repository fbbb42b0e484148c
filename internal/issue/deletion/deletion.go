// Package deletion deletes labels and milestones, which takes them off their issues, and the rows of deleted
// repositories. Packages label and milestone have the rest of those; package forge begins and ends
// the deletion of a repository.
//
//	label.go, milestone.go   deleting them
//	repository.go            emptying a deleted repository
//	store*.go                the SQL
//	api.go                   the handlers; routes.go: their addresses
//
// It writes to many issues at once, past [issue.Change], so it moves their postings and
// counters itself. What would take long goes in pieces, by a worker: a row of deleted_labels,
// deleted_milestones or deleted_repos is that job, so that it outlives the server.
package deletion

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// atOnce is how many issues a transaction changes: nobody else writes to SQLite meanwhile.
const atOnce = 200

// pollTime is between looks for jobs of other processes, and after an error.
const pollTime = 10 * time.Second

// topic is that of the bell which wakes the worker.
const topic = "deletion"

// Forge ends the deletion of a repository.
type Forge interface {
	// FinishDeletion removes a deleted repository, once most of its rows are gone. Error: 404.
	FinishDeletion(tx *db.Tx, id repo.ID) error
}

// Service holds what deletions share.
type Service struct {
	db    *db.DB
	log   *slog.Logger
	forge Forge
}

// New makes the service.
func New(d *db.DB, log *slog.Logger, forge Forge) *Service { return &Service{d, log, forge} }

// Run does the jobs, beginning with those that a server left behind, until ctx is done. It returns nil:
// what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	db.Follow(ctx, s.db.Bell(topic), pollTime, func(ctx context.Context) {
		s.work(ctx, "a deleted label is still on some issues", s.stripSome)
		s.work(ctx, "issues are still in a deleted milestone", s.leaveSome)
		s.work(ctx, "a deleted repository is not removed yet", s.emptySome)
	})
	return nil
}

// work does the jobs of one kind, one after the other, in pieces. some does a piece of the first job whose id is
// larger than after, and returns its id; 0: there is none. A job that fails waits for the next round, and the
// others for nothing.
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

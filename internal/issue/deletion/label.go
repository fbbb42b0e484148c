// Package deletion deletes labels and milestones, which takes them off their issues.
// Packages label and milestone have the rest of them.
//
//	label.go, milestone.go   deleting; a worker takes labels off many issues
//	store*.go                the SQL
//	api.go                   the handlers; routes.go: their addresses
//
// It writes to many issues at once, past [issue.Change], so it moves their postings and
// counters itself. Table: deleted_labels.
package deletion

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// How a deleted label leaves its issues. Payloads show it no longer as soon as
// its row is gone, since the id in the issues' rows names nothing then, and ids
// are never used again. But an issue without any other label must be found
// among those without one. So the id is taken off the issues: off a few in the
// same transaction, off many afterwards, in transactions of a bounded size. A
// row of deleted_labels is that job, so that it outlives the server.
const stripped = 200 // issues a transaction

// stripRetry is how long the work rests after an error.
const stripRetry = 10 * time.Second

// Service holds what deletions share.
type Service struct {
	db      *db.DB
	log     *slog.Logger
	deleted chan struct{} // wakes the worker that takes deleted labels off many issues
}

// New makes the service.
func New(d *db.DB, log *slog.Logger) *Service {
	return &Service{db: d, log: log, deleted: make(chan struct{}, 1)}
}

// DeleteLabel removes the label of that name from the repository. Issues keep
// their updated_at, and note no event. Error: 404.
func (s *Service) DeleteLabel(ctx context.Context, a *repo.Access, name string) error {
	var many bool
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		l, err := label.ByName(tx, a.ID, name)
		if err != nil {
			return err
		}
		if err := label.TellGone(tx, a, l); err != nil {
			return err
		}
		if err := label.Delete(tx, l); err != nil {
			return err
		}
		n, err := posting.Total(tx, a.ID, posting.ByLabel.Of(l.ID))
		if err != nil {
			return err
		}
		if many = n > stripped; many {
			return insertDeletedLabel(tx, a.ID, l.ID)
		}
		_, err = stripLabel(tx, a.ID, l.ID)
		return err
	})
	if err == nil && many {
		select {
		case s.deleted <- struct{}{}:
		default:
		}
	}
	return err
}

// Run takes deleted labels off their issues, beginning with those that a server left
// behind, until ctx is done. It returns nil: what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	for {
		more, err := s.stripSome(ctx)
		if more && err == nil && ctx.Err() == nil {
			continue
		}
		var retry <-chan time.Time
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "a deleted label is still on some issues", "error", err)
			retry = time.After(stripRetry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.deleted:
		case <-retry:
		}
	}
}

// stripSome does a bounded part of one job. more reports that there was one.
func (s *Service) stripSome(ctx context.Context) (more bool, err error) {
	var repoID repo.ID
	var labelID int64
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		repoID, labelID, err = nextDeletedLabel(tx)
		return err
	})
	if err != nil || labelID == 0 {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, repoID); err != nil {
			return err
		}
		n, err := stripLabel(tx, repoID, labelID)
		if err != nil || n == stripped {
			return err
		}
		return finishDeletedLabel(tx, labelID)
	})
	if errs.Is(err, errs.NotFound) { // the repository went, and the job with it
		err = nil
	}
	return true, err
}

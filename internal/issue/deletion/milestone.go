package deletion

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// Deleting a milestone works like deleting a label (label.go): a few issues are updated immediately, many
// by the worker. Each issue gets an event with the time of the deletion.

// deletedMilestone is a milestone that was deleted, or is being deleted in the transaction.
type deletedMilestone struct {
	id     int64
	repoID repo.ID
	by     account.ID
	title  string
	at     db.Time
}

// DeleteMilestone deletes a milestone and removes its issues from it. It does not change their updated_at;
// each gets an event. Error: 404.
func (s *Service) DeleteMilestone(ctx context.Context, a *repo.Access, number int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		m, err := milestone.ByNumber(tx, a.ID, number)
		if err != nil {
			return err
		}
		if err := milestone.RecordDeleted(tx, a, m); err != nil {
			return err
		}
		if err := milestone.Delete(tx, m); err != nil {
			return err
		}
		n, err := posting.Total(tx, a.ID, posting.ByMilestone.Of(m.ID))
		if err != nil {
			return err
		}
		gone := &deletedMilestone{id: m.ID, repoID: a.ID, by: a.Caller.ID, title: m.Title, at: tx.Now}
		if n > atOnce {
			return insertDeletedMilestone(tx, gone)
		}
		_, err = leaveMilestone(tx, gone)
		return err
	})
}

// leaveSome processes a batch of the first job after another.
func (s *Service) leaveSome(ctx context.Context, after int64) (job int64, err error) {
	m, err := db.Get(ctx, s.db, func(tx *db.Tx) (*deletedMilestone, error) {
		return nextDeletedMilestone(tx, after)
	})
	if errs.Is(err, errs.NotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, m.repoID); err != nil {
			return err
		}
		n, err := leaveMilestone(tx, m)
		if err != nil || n == atOnce {
			return err
		}
		return finishDeletedMilestone(tx, m.id)
	})
	if errs.Is(err, errs.NotFound) { // the repository was deleted with its jobs
		err = nil
	}
	return m.id, err
}

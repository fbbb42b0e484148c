package deletion

import (
	"context"

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
// same transaction, off many afterwards, by the worker.

// DeleteLabel removes the label of that name from the repository. Issues keep
// their updated_at, and note no event. Error: 404.
func (s *Service) DeleteLabel(ctx context.Context, a *repo.Access, name string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
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
		if n > atOnce {
			return insertDeletedLabel(tx, a.ID, l.ID)
		}
		_, err = stripLabel(tx, a.ID, l.ID)
		return err
	})
}

// stripSome does a bounded part of the first job behind another.
func (s *Service) stripSome(ctx context.Context, after int64) (job int64, err error) {
	var repoID repo.ID
	var labelID int64
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		repoID, labelID, err = nextDeletedLabel(tx, after)
		return err
	})
	if err != nil || labelID == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, repoID); err != nil {
			return err
		}
		n, err := stripLabel(tx, repoID, labelID)
		if err != nil || n == atOnce {
			return err
		}
		return finishDeletedLabel(tx, labelID)
	})
	if errs.Is(err, errs.NotFound) { // the repository went, and the job with it
		err = nil
	}
	return labelID, err
}

package deletion

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// Deleting a label: as soon as its row is deleted, payloads no longer show the label, because the ids in
// the issues' rows are ignored and ids are not reused. But an issue without other labels must be found by
// "no label". So the id is also removed from the issues: from a few in the same transaction, from many
// later by the worker.

// DeleteLabel deletes the label with this name. It does not change updated_at of issues and adds no events.
// Error: 404.
func (s *Service) DeleteLabel(ctx context.Context, a *repo.Access, name string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		l, err := label.ByName(tx, a.ID, name)
		if err != nil {
			return err
		}
		if err := label.RecordDeleted(tx, a, l); err != nil {
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

// stripSome processes a batch of the first job after another.
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
		if err := issuekit.Lock(tx, repoID); err != nil {
			return err
		}
		n, err := stripLabel(tx, repoID, labelID)
		if err != nil || n == atOnce {
			return err
		}
		return finishDeletedLabel(tx, labelID)
	})
	if errs.Is(err, errs.NotFound) { // the repository was deleted with its jobs
		err = nil
	}
	return labelID, err
}

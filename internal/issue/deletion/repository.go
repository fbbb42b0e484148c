package deletion

import (
	"context"
	"math"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
)

// Deleting a large repository: the request hides it by renaming it to a name that users cannot choose
// (repo.DeletedName); access checks then treat it as invisible, even for site administrators. Then the
// worker deletes its rows, and the repository with the last of them. Until then its counts do not change,
// including its owner's quota.

// Enqueue adds a job that deletes the rows of a hidden repository after the commit.
func Enqueue(tx *db.Tx, id repo.ID) error { return insertDeletedRepo(tx, id, journal.ID(tx)) }

// endSome lets the first repository after another whose time to be restored is over be removed.
func (s *Service) endSome(ctx context.Context, after int64) (job int64, err error) {
	id, err := db.Get(ctx, s.db, func(tx *db.Tx) (repo.ID, error) { return deleted.Due(tx, after) })
	if err != nil || id == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		err := repo.Lock(tx, id)
		if errs.Is(err, errs.NotFound) { // another process removed it
			return nil
		}
		if err != nil {
			return err
		}
		if due, err := deleted.End(tx, id); err != nil || !due {
			return err
		}
		return Enqueue(tx, id)
	})
	return int64(id), err
}

// emptySome deletes some rows of the first deleted repository after another, or finally the repository.
func (s *Service) emptySome(ctx context.Context, after int64) (job int64, err error) {
	var id repo.ID
	var request string
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		id, request, err = nextDeletedRepo(tx, after)
		return err
	})
	if err != nil || id == 0 {
		return 0, err
	}
	ctx = journal.WithJobOf(ctx, "deletion", request)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		err := repo.Lock(tx, id)
		if errs.Is(err, errs.NotFound) { // another process removed it
			return nil
		}
		if err != nil {
			return err
		}
		n, err := RemoveSome(tx, id, math.MaxInt64)
		if err != nil || n > 0 {
			return err
		}
		return s.forge.FinishDeletion(tx, id)
	})
	return int64(id), err
}

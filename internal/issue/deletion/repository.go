package deletion

import (
	"context"
	"math"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// How a deleted repository goes that has much in it. The request hides it: it gets a name that nobody can
// give (repo.DeletedName), for which everything that asks who sees a repository answers nobody, not even site
// administrators. Then the worker removes its rows, and the repository with the last of them. Meanwhile all
// that is counted of it stays as it was, its owner's quota too.

// Enqueue has the worker remove a hidden repository after the commit.
func Enqueue(tx *db.Tx, id repo.ID) error { return insertDeletedRepo(tx, id, journal.ID(tx)) }

// emptySome removes some rows of the first deleted repository behind another, or at last the repository.
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

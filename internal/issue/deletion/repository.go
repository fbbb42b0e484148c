package deletion

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// How a deleted repository with many issues goes. The request hides it: it is private and withdrawn, so
// everything that asks who sees a repository answers nobody but site administrators, and has a name that
// nobody can give. Then the worker removes its issues, and the repository with the last of them. Meanwhile
// all that is counted of it stays as it was, its owner's quota too.

// HasMany reports whether a repository may have more issues and pull requests than one transaction may
// remove.
func HasMany(tx *db.Tx, id repo.ID) (bool, error) { return numbersBeyond(tx, id, atOnce) }

// Enqueue has the worker remove a hidden repository after the commit.
func Enqueue(tx *db.Tx, id repo.ID) error { return insertDeletedRepo(tx, id, journal.ID(tx)) }

// emptySome removes some issues of one deleted repository, or at last the repository. more reports that there
// was one.
func (s *Service) emptySome(ctx context.Context) (more bool, err error) {
	var id repo.ID
	var request string
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		id, request, err = nextDeletedRepo(tx)
		return err
	})
	if err != nil || id == 0 {
		return false, err
	}
	ctx = journal.WithJobOf(ctx, "deletion", request)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := repo.Lock(tx, id); err != nil {
			return err
		}
		n, err := issue.DeleteSome(tx, id, atOnce)
		if err != nil || n > 0 {
			return err
		}
		return s.forge.FinishDeletion(tx, id)
	})
	if errs.Is(err, errs.NotFound) { // another process removed it
		err = nil
	}
	return true, err
}

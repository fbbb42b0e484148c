package repo

import (
	"context"
	"errors"
	"fmt"

	"arbor/internal/db"
	"arbor/internal/git"
)

// maxPrepared is how often Prepared begins anew.
const maxPrepared = 5

// Prepared prepares a push and then runs move, whose transaction moves the refs
// with MoveRefsIn; again when the preparation did not suffice.
func (s *Service) Prepared(ctx context.Context, p Push, move func() error) error {
	for try := 1; ; try++ {
		if err := s.forge.PreparePush(ctx, p); err != nil {
			return err
		}
		err := move()
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrUnprepared) || try == maxPrepared {
			// Objects that were written for the move stay.
			return errors.Join(err, s.MarkUnreached(ctx, p.RepoID))
		}
	}
}

// MoveRefsIn is MoveRefs within a transaction of the caller's, who is called by
// Prepared.
func (s *Service) MoveRefsIn(tx *db.Tx, p Push) (refused []error, err error) {
	return s.forge.Push(tx, p)
}

// The refs of a pull request, which nobody can push (decision 36).
const (
	PullHead  = "head"  // what it asks to merge
	PullMerge = "merge" // the last test merge
)

// SetPullRef points refs/pull/N/head or merge somewhere, with git.ZeroSHA
// nowhere. The repository's row is locked by then. It is no push: nothing else
// moves.
func SetPullRef(tx *db.Tx, repoID, number int64, kind string, sha git.SHA) error {
	if _, err := lockForRefs(tx, repoID); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%d/%s", pulls, number, kind)
	if err := noteRef(tx, repoID, name, sha); err != nil {
		return err
	}
	return writeRefs(tx, repoID, []RefUpdate{{Name: name, New: sha}})
}

// BranchTip is where a branch is; empty where there is none.
func BranchTip(tx *db.Tx, repoID int64, branch string) (git.SHA, error) {
	found, err := refsNamed(tx, repoID, []string{heads + branch})
	return found[heads+branch], err
}

// HoldBranch is BranchTip for a transaction that relies on it: no other moves the
// branch before it ends.
func HoldBranch(tx *db.Tx, repoID int64, branch string) (git.SHA, error) {
	if _, err := tx.Exec(`UPDATE repos SET refs_generation = refs_generation WHERE id = $1`, repoID); err != nil {
		return "", err
	}
	return BranchTip(tx, repoID, branch)
}

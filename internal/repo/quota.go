package repo

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// A quota limits the number of an owner's repositories and their total size: the packs of pushes and
// imports, and the contents of objects written by the API. A fork counts with the size of its parent,
// although it shares the files at first. Commits copied from a fork to another repository by a pull request
// count for the author of the pull request, as long as that repository exists. Merges do not count. An
// owner at the limit can delete, and move refs with the API; a deleted repository counts until its
// directory is removed (maintenance/discard.go).
//
// It is checked before work begins, and again in the transaction that adds to the size, which locks the
// owner's row, so concurrent requests cannot exceed it together. The disk may temporarily hold more: packs
// being received, and objects of API requests that are rejected in the end.

// Growth is an increase of an owner's usage.
type Growth struct {
	Repos int64
	KB    int64 // KiB in repositories
	Hold  bool  // block other transactions that add to the owner's usage until this one ends
}

// CheckQuota returns 403 if the increase would exceed the owner's quota.
func (s *Service) CheckQuota(tx *db.Tx, owner *account.Account, more Growth) error {
	q, have, err := account.QuotaOf(tx, owner.ID)
	if err != nil {
		return err
	}
	q = q.Or(s.Quota)
	most, mostKB := bound(q.Repos), bound(q.KB)
	if more.Hold && (more.Repos > 0 && most >= 0 || more.KB > 0 && mostKB >= 0) {
		if err := account.HoldID(tx, owner.ID); err != nil {
			return err
		}
		if _, have, err = account.QuotaOf(tx, owner.ID); err != nil {
			return err
		}
	}
	if more.Repos > 0 && most >= 0 && have+more.Repos > most {
		return errs.Newf(errs.Forbidden, "%s may have at most %d repositories.", owner.Login, most)
	}
	if more.KB == 0 || mostKB < 0 {
		return nil
	}
	owned, err := account.OwnedKB(tx, owner.ID)
	if err == nil && owned+more.KB > mostKB {
		err = errs.Newf(errs.Forbidden, "The repositories and files of %s may take at most %s, and would take more.",
			owner.Login, account.Kibibytes(mostKB))
	}
	return err
}

func bound(n *int64) int64 {
	if n == nil {
		return account.Unbounded
	}
	return *n
}

// checkGrowth is CheckQuota for a repository that grows.
func (s *Service) checkGrowth(tx *db.Tx, id ID, kb int64, hold bool) error {
	if kb == 0 {
		return nil
	}
	owner, err := ownerOf(tx, id)
	if err != nil {
		return err
	}
	return s.CheckQuota(tx, owner, Growth{KB: kb, Hold: hold})
}

// MayAdd is MayGrowBy in the transaction that adds what counts for the owner.
func (s *Service) MayAdd(tx *db.Tx, id ID, kb int64) error { return s.checkGrowth(tx, id, kb, true) }

// MayGrowBy returns 403 if the quota of a repository's owner has no room for the KiB. It is called before
// work begins; the transaction that adds them checks again.
func (s *Service) MayGrowBy(ctx context.Context, id ID, kb int64) error {
	return s.db.Read(ctx, func(tx *db.Tx) error { return s.checkGrowth(tx, id, kb, false) })
}

// MayGrow returns 403 if the owner's quota has no room for the objects. It is called before they are
// written; the push that refers to them checks again.
func (s *Service) MayGrow(ctx context.Context, a *Access, objects []git.NewObject) error {
	return s.MayGrowBy(ctx, a.ID, Kilobytes(objects))
}

// Kilobytes returns how many KiB objects written by the API add to the size of a repository.
func Kilobytes(objects []git.NewObject) int64 {
	n := 0
	for _, o := range objects {
		n += len(o.Data)
	}
	return int64(n+1023) / 1024
}

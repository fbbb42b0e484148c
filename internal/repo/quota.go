package repo

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// A quota bounds how many repositories an owner has and what their sizes come to: of what was pushed
// and imported the packs, of what the API wrote the objects' contents. A fork counts with the size of
// its parent, although it shares the files at first. What comes from a fork into another repository
// with a pull request counts for the author of the pull request, as long as that repository is there.
// Merges count nowhere. An owner at the bound may delete, and by the API move refs; what was deleted
// counts until its folder is gone (maintenance/discard.go).
//
// It is asked before work begins, and again in the transaction that adds to the size. That holds the
// owner's row, so together no requests get past a bound. On the disk there may be more for a
// while: packs that are being received, and objects of API requests that were refused in the end.

// Growth is what an owner is about to get.
type Growth struct {
	Repos int64
	KB    int64 // KiB in repositories
	Hold  bool  // no other transaction adds to what the owner has until this one ends
}

// CheckQuota refuses that an owner gets more than its quota. Error: 403.
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

// MayGrowBy refuses KiB for which the quota of a repository's owner has no room, before work
// begins. What adds them asks again. Error: 403.
func (s *Service) MayGrowBy(ctx context.Context, id ID, kb int64) error {
	return s.db.Read(ctx, func(tx *db.Tx) error { return s.checkGrowth(tx, id, kb, false) })
}

// MayGrow refuses objects for which the owner's quota has no room, before they are written.
// The push that names them asks again. Error: 403.
func (s *Service) MayGrow(ctx context.Context, a *Access, objects []git.NewObject) error {
	return s.MayGrowBy(ctx, a.ID, Kilobytes(objects))
}

// Kilobytes is what objects that the API writes add to the size of a repository, in KiB.
func Kilobytes(objects []git.NewObject) int64 {
	n := 0
	for _, o := range objects {
		n += len(o.Data)
	}
	return int64(n+1023) / 1024
}

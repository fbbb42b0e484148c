package repo

import (
	"context"
	"math"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Files other than Git objects belong to a repository, too (package file). Uploads of people with push access
// count for the repository's owner, in a column of their own, since a fork gets none. Uploads of others count for
// their uploaders, as their rows say: otherwise strangers could use up an owner's quota.

// payer is for whom files of a repository count: the account of that id, or for 0 the owner. Error: 404.
func payer(tx *db.Tx, id ID, by account.ID) (*account.Account, error) {
	if by != 0 {
		return account.ByID(tx, by)
	}
	return ownerOf(tx, id)
}

// FileRoom is how many KiB the quota has left in which a file counts, of the account by or for 0 of the
// repository's owner; math.MaxInt64 where there is none.
func (s *Service) FileRoom(ctx context.Context, id ID, by account.ID) (kb int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		owner, err := payer(tx, id, by)
		if err != nil {
			return err
		}
		q, _, err := account.QuotaOf(tx, owner.ID)
		if err != nil {
			return err
		}
		most := bound(q.Or(s.Quota).KB)
		if most < 0 {
			kb = math.MaxInt64
			return nil
		}
		owned, err := account.OwnedKB(tx, owner.ID)
		kb = max(0, most-owned)
		return err
	})
	return kb, err
}

// MayAddFile refuses KiB for which the quota that FileRoom means has no room, before a file is received. Error: 403.
func (s *Service) MayAddFile(ctx context.Context, id ID, by account.ID, kb int64) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		owner, err := payer(tx, id, by)
		if err != nil {
			return err
		}
		return s.CheckQuota(tx, owner, Growth{KB: kb})
	})
}

// CountFile counts KiB of a file that is about to be added to a repository, whose row is locked, for the account
// by or for 0 the owner. Error: 403 where the quota has no room.
func (s *Service) CountFile(tx *db.Tx, id ID, by account.ID, kb int64) error {
	owner, err := payer(tx, id, by)
	if err == nil {
		err = s.CheckQuota(tx, owner, Growth{KB: kb, Hold: true})
	}
	if err != nil || by != 0 { // by the file's row
		return err
	}
	return AddFilesKB(tx, id, kb)
}

// AddFilesKB adds KiB to the files of a repository that count for its owner; less than 0 takes them away.
func AddFilesKB(tx *db.Tx, id ID, kb int64) error {
	_, err := tx.Exec(`UPDATE repos SET files_kb = files_kb + $2 WHERE id = $1`, id, kb)
	return err
}

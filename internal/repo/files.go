package repo

import (
	"context"
	"math"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Files other than Git objects also belong to a repository (package file). Uploads with push access count
// for the repository's owner, in a separate column, because forks do not copy them. Other uploads count for
// their uploaders, as stored in their rows: otherwise strangers could use up an owner's quota.

// payer returns the account that files count for: the account by, or for 0 the repository's owner. Error:
// 404.
func payer(tx *db.Tx, id ID, by account.ID) (*account.Account, error) {
	if by != 0 {
		return account.ByID(tx, by)
	}
	return ownerOf(tx, id)
}

// FileRoom returns how many KiB are left in the quota of the account by, or for 0 of the repository's
// owner; math.MaxInt64 without a quota.
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

// MayAddFile returns 403 if the quota of FileRoom has no room for the KiB. It is called before a file is
// received.
func (s *Service) MayAddFile(ctx context.Context, id ID, by account.ID, kb int64) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		owner, err := payer(tx, id, by)
		if err != nil {
			return err
		}
		return s.CheckQuota(tx, owner, Growth{KB: kb})
	})
}

// CountFile adds the KiB of a new file to the usage of the account by, or for 0 of the owner. The
// repository's row must be locked. Error: 403 if the quota has no room.
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

// AddFilesKB adds KiB to the repository's files that count for its owner. kb may be negative.
func AddFilesKB(tx *db.Tx, id ID, kb int64) error {
	_, err := tx.Exec(`UPDATE repos SET files_kb = files_kb + $2 WHERE id = $1`, id, kb)
	return err
}

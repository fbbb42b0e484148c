package repo

import (
	"context"
	"math"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Files that are no Git objects hang on a repository, too (package file). They count in
// what its owner has, and a fork gets none: so they have a column of their own.

// FileRoom is how many KiB the quota of a repository's owner has left; math.MaxInt64 where there is none.
func (s *Service) FileRoom(ctx context.Context, id ID) (kb int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		owner, err := ownerOf(tx, id)
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

// CountFiles adds KiB to the files of a repository, whose row is locked; less than 0 takes them
// away. Error: 403 where the owner's quota has no room.
func (s *Service) CountFiles(tx *db.Tx, id ID, kb int64) error {
	if kb > 0 {
		if err := s.checkGrowth(tx, id, kb, true); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`UPDATE repos SET files_kb = files_kb + $2 WHERE id = $1`, id, kb)
	return err
}

package packs

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// MakeRoom is makeRoom.
func (s *Service) MakeRoom(ctx context.Context, need int64) (done func(), err error) {
	return s.makeRoom(ctx, need)
}

// RemovePacks takes packs out of a folder, as Replace does.
func RemovePacks(tx *db.Tx, from repo.Folder, names []string) error {
	return removePacks(tx, from, names)
}

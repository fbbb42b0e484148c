package packs

import (
	"context"
	"io"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// MakeRoom is makeRoom.
func (s *Service) MakeRoom(ctx context.Context, need int64) (*reservation, error) {
	return s.makeRoom(ctx, need)
}

// Release is release.
func (r *reservation) Release() { r.release() }

// Wrote is wrote.
func (r *reservation) Wrote(bytes int64) { r.wrote(bytes) }

// WritePack writes the temporary files of a pack. drop removes them.
func (r *reservation) WritePack(objects *git.Repository, from io.Reader, size int64) (drop func(), err error) {
	p, err := newParts(r, objects, &packFile{packSize: size / 2, indexSize: size - size/2})
	if err == nil {
		_, err = io.Copy(p.at(0), from)
	}
	return p.drop, err
}

// AddCached notes bytes of a cached folder.
func (s *Service) AddCached(f repo.Folder, bytes int64) {
	s.cacheOf(f).added("pack", bytes, bytes, 0, 0)
}

// Coming returns the bytes of packs that are being loaded, and how many of them are written.
func (s *Service) Coming() (bytes, written int64) { return s.room.coming, s.room.written.Load() }

// RemovePacks takes packs out of a folder, as Replace does.
func RemovePacks(tx *db.Tx, from repo.Folder, names []string) error {
	return removePacks(tx, from, names)
}

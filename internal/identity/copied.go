package identity

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/db"
)

// refuseCopy returns an error for a folder or a SQLite file that was copied with its id while the first one is
// still there: two servers would write to different folders for one database, or give one folder's
// repositories the same numbers. A copy of both, with the database in the folder, is a store of its own.
func (s Store) refuseCopy(r row, f *file) error {
	if r.Store == "" || f == nil {
		return nil
	}
	address := s.address()
	if f.Database != address && !strings.Contains(f.Database, "://") && isOther(s.shown(f.Database), s.URL) {
		return s.otherDatabase(f)
	}
	inside := !s.isPostgres() && !filepath.IsAbs(address)
	if r.Folder == s.Folder || f.Node || inside || !isOther(r.Folder, s.Folder) {
		return nil
	}
	if other, err := readFile(r.Folder); err != nil || other == nil || other.Store != r.Store {
		return nil // that folder is another store's now, or none of this user's
	}
	return s.copiedFolder(r)
}

// refuseSecond returns an error for a server whose database has another address than that of the servers which
// work in the folder, and does not know them: it is a copy. One that does was named in another way.
func (s Store) refuseSecond(ctx context.Context, d *db.DB, f *file) error {
	if f.Database == s.address() {
		return nil
	}
	_, err := readUnused(ctx, d)
	if inUse := (*db.InUseError)(nil); errors.As(err, &inUse) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.otherDatabase(f)
}

// isOther reports whether the first path leads to something else than the second one. It does not if nothing
// can be found there.
func isOther(first, second string) bool {
	there, err := os.Stat(first)
	if err != nil {
		return false
	}
	here, err := os.Stat(second)
	return err != nil || !os.SameFile(there, here)
}

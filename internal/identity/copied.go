package identity

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/db"
)

// refuseCopy returns an error for a folder or a SQLite file that was copied with its id, if the original still
// exists: two servers would use different folders with one database, or two databases would give repositories in
// one folder the same numbers. A copy of both, with the database in the folder, is accepted as a separate store.
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

// refuseSecond returns an error if the server's database has another address than the database of the servers that
// work in the folder, and does not list these servers: then it is a copy. If it lists them, it is the same database
// under another address.
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

// isOther reports whether two paths lead to different files or folders. It returns false if the first one does not
// exist.
func isOther(first, second string) bool {
	there, err := os.Stat(first)
	if err != nil {
		return false
	}
	here, err := os.Stat(second)
	return err != nil || !os.SameFile(there, here)
}

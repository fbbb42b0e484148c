package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"arbor/internal/db"
	"arbor/internal/depot"
)

// bind binds a depot to the store. It refuses an address that leads to a place which the store already uses under
// another address: otherwise the old and the new copy of a move would be the same file, and a sweep of one place
// would remove files of the other.
func (s *Store) bind(ctx context.Context, address, store string) error {
	d, err := depot.Open(address, store, s.Metrics)
	if err != nil {
		return err
	}
	others, err := s.otherDepots(ctx, address)
	if err != nil {
		return err
	}
	if err := s.apart(d.Folder(), others); err != nil {
		return err
	}
	if err := d.Bind(ctx); err != nil {
		return err
	}
	for at, other := range others {
		same, err := d.Same(ctx, other)
		var wrong *depot.IdentityError
		if errors.As(err, &wrong) { // it is gone, or another store's
			continue
		}
		if err != nil {
			return fmt.Errorf("%s does not answer, so it is unknown whether the new place is the same: try again: %w", at,
				err)
		}
		if same {
			return fmt.Errorf("%s is the same place as %s: use another bucket, prefix or folder", address, at)
		}
	}
	return nil
}

// otherDepots returns the depots of the store by address, without that of one address.
func (s *Store) otherDepots(ctx context.Context, address string) (map[string]*depot.Depot, error) {
	rows, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]depotRow, error) { return depots(tx) })
	if err != nil {
		return nil, err
	}
	others := map[string]*depot.Depot{}
	for _, row := range rows {
		if row.address == address {
			continue
		}
		if others[row.address], err = s.open(&row); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// apart refuses a folder for a depot that overlaps with the data folder or with another depot of the
// store. Empty: the depot is a bucket.
func (s *Store) apart(folder string, others map[string]*depot.Depot) error {
	if folder == "" {
		return nil
	}
	taken := []string{filepath.Dir(s.dir)}
	for _, other := range others {
		if path := other.Folder(); path != "" {
			taken = append(taken, path)
		}
	}
	for _, path := range taken {
		for _, a := range []string{folder, filepath.Join(folder, Folder)} {
			for _, b := range []string{path, filepath.Join(path, Folder)} {
				if isWithin(a, b) || isWithin(b, a) {
					return fmt.Errorf("%s is, contains or lies in %s, which this store uses already: use another folder",
						folder, path)
				}
			}
		}
	}
	return nil
}

// isWithin reports whether inner is the folder outer or lies in it, even if their paths contain links and mounts. It
// returns false for folders that cannot be read.
func isWithin(inner, outer string) bool {
	there, err := os.Stat(outer)
	if err != nil {
		return false
	}
	if inner, err = filepath.EvalSymlinks(inner); err == nil {
		inner, err = filepath.Abs(inner)
	}
	for err == nil {
		var here os.FileInfo
		if here, err = os.Stat(inner); err == nil && os.SameFile(here, there) {
			return true
		}
		parent := filepath.Dir(inner)
		if parent == inner {
			return false
		}
		inner = parent
	}
	return false
}

// samePlace reports whether a name is the same file in two places, because both use the same folder for it. (Hard
// links to a file have other names.) Call it before a copy is removed: two places may have become the same after
// they were chosen, for example by a mount.
func (s *Store) samePlace(ctx context.Context, name string, a, b DepotID) (bool, error) {
	var dirs [2]os.FileInfo
	for n, id := range []DepotID{a, b} {
		dir := s.dirOf(name)
		if id != 0 {
			d, err := s.depot(ctx, id)
			if err != nil {
				return false, err
			}
			if d.Folder() == "" {
				return false, nil
			}
			dir = filepath.Dir(filepath.Join(d.Folder(), filepath.FromSlash(Path(name))))
		}
		var err error
		if dirs[n], err = os.Stat(dir); isMissing(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return os.SameFile(dirs[0], dirs[1]), nil
}

package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/git"
)

// DepotID is the id of a row of the table depots; 0 is the data folder.
type DepotID int64

// location says where a file lies.
type location struct {
	depot DepotID
	name  string
}

func (f *File) location() location { return location{f.Depot, f.Name} }

// places are the depots of a store, each opened when it is first needed.
type places struct {
	mu     sync.Mutex
	opened map[DepotID]*depot.Depot
	pinned *string // the address to which new files go; nil: the one that was chosen last
}

// Pin fixes the address to which this process writes new files, whatever is chosen while it runs. Empty: the data
// folder.
func (s *Store) Pin(address string) { s.places.pinned = &address }

// current returns where new files go; nil: to the data folder.
func (s *Store) current(ctx context.Context) (id DepotID, to *depot.Depot, err error) {
	s.places.mu.Lock()
	pinned := s.places.pinned
	s.places.mu.Unlock()
	if pinned != nil && *pinned == "" {
		return 0, nil, nil
	}
	var row *depotRow
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if pinned != nil {
			row, err = depotAt(tx, *pinned)
		} else {
			row, err = chosenDepot(tx)
		}
		return err
	})
	if err == nil && row == nil && pinned != nil {
		err = fmt.Errorf("file: the store no longer keeps files in %s: restart the server with the current --objects",
			*pinned)
	}
	if err != nil || row == nil || row.address == "" {
		return 0, nil, err
	}
	to, err = s.open(row)
	return row.id, to, err
}

// Place returns where new files go; 0 and nil: to the data folder.
func (s *Store) Place(ctx context.Context) (DepotID, *depot.Depot, error) { return s.current(ctx) }

// Depot returns a depot by its id, which is not 0.
func (s *Store) Depot(ctx context.Context, id DepotID) (*depot.Depot, error) { return s.depot(ctx, id) }

// Depots returns the depots in which the store has files, and that to which new ones go.
func (s *Store) Depots(ctx context.Context) (map[DepotID]*depot.Depot, error) {
	rows, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]depotRow, error) { return depots(tx) })
	all := map[DepotID]*depot.Depot{}
	for _, row := range rows {
		if err != nil {
			return nil, err
		}
		all[row.id], err = s.open(&row)
	}
	return all, err
}

// depot returns a depot by its id, which is not 0.
func (s *Store) depot(ctx context.Context, id DepotID) (*depot.Depot, error) {
	s.places.mu.Lock()
	d := s.places.opened[id]
	s.places.mu.Unlock()
	if d != nil {
		return d, nil
	}
	row, err := db.Get(ctx, s.db, func(tx *db.Tx) (*depotRow, error) { return depotByID(tx, id) })
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, fmt.Errorf("file: no depot has the id %d", id)
	}
	return s.open(row)
}

func (s *Store) open(row *depotRow) (*depot.Depot, error) {
	s.places.mu.Lock()
	defer s.places.mu.Unlock()
	if d := s.places.opened[row.id]; d != nil {
		return d, nil
	}
	d, err := depot.Open(row.address, row.store, s.Metrics)
	if err != nil {
		return nil, err
	}
	if s.places.opened == nil {
		s.places.opened = map[DepotID]*depot.Depot{}
	}
	s.places.opened[row.id] = d
	return d, nil
}

// Use checks, when a server starts, that address is the place of the store's files; empty: the data folder. If the
// store has no files yet, Use binds the store to the depot, which must be empty. offline is the error of a depot
// that does not answer now: the server may start anyway. err is for the operator, in one line: the files are in
// another place, or the depot belongs to another store.
func (s *Store) Use(ctx context.Context, address string) (offline, err error) {
	if address != "" {
		if address, err = depot.Canonical(address); err != nil {
			return nil, err
		}
	}
	var chosen *depotRow
	var filled bool
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if chosen, err = chosenDepot(tx); err == nil {
			filled, err = hasFiles(tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case chosen == nil && address == "":
		return nil, nil
	case chosen == nil && filled:
		return nil, errOtherDepot("", address)
	case chosen == nil:
		if _, err := s.choose(ctx, address); err != nil {
			return nil, err
		}
		// Wait, so that this server counts as started after the choice: see refuseOlder.
		if err := git.Sleep(ctx, 2*clockStep*time.Microsecond); err != nil {
			return nil, err
		}
	case chosen.address != address:
		return nil, errOtherDepot(chosen.address, address)
	case address == "":
		return nil, nil
	}
	_, d, err := s.current(ctx)
	if err != nil || d == nil {
		return nil, err
	}
	var wrong *depot.IdentityError
	if err = d.Check(ctx); errors.As(err, &wrong) {
		return nil, err
	}
	return err, nil
}

// errOtherDepot refuses an address that is not the one at which the files are.
func errOtherDepot(is, given string) error {
	switch {
	case is == "":
		return fmt.Errorf("the files of this store are in its data folder: do not set --objects (or ARBOR_OBJECTS), "+
			"or run arbor objects move --to %s first", given)
	case given == "":
		return fmt.Errorf("the files of this store are in %s: use --objects '%s' (or ARBOR_OBJECTS)", is, is)
	}
	return fmt.Errorf("the files of this store are in %s, not in %s: use --objects '%s' (or ARBOR_OBJECTS), "+
		"or run arbor objects move --to '%s' first", is, given, is, given)
}

// choose makes an address the place of new files, and binds it to the store. Empty: the data folder.
func (s *Store) choose(ctx context.Context, address string) (*depotRow, error) {
	var store string
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		row, err := depotAt(tx, address)
		if err == nil && row != nil {
			store = row.store
			return nil
		}
		if err == nil {
			store, err = storeID(tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if store == "" {
		return nil, errors.New("the store has no id yet: start a server on it first")
	}
	if address != "" {
		if err := s.bind(ctx, address, store); err != nil {
			return nil, err
		}
	}
	var row *depotRow
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		row, err = chosenDepot(tx)
		switch {
		case err == nil && row == nil && address == "": // it always was
			row = &depotRow{}
			return nil
		case err != nil || row != nil && row.address == address:
			return err
		}
		row, err = chooseDepot(tx, address, store)
		return err
	})
	return row, err
}

// Check asks the place of new files whether it answers and is the store's. remote is false for the data folder.
func (s *Store) Check(ctx context.Context) (remote bool, err error) {
	_, d, err := s.current(ctx)
	if err != nil || d == nil {
		return false, err
	}
	return true, d.Check(ctx)
}

// keep stores a received file under its name in the place of new files: the data folder, or a depot. out is the
// temporary file, which is gone from the folder or removed by the caller.
func (s *Store) keep(ctx context.Context, f *File, out *os.File, to *depot.Depot) error {
	if to != nil {
		err := to.Put(ctx, Path(f.Name), out, f.Size)
		f.kept = time.Now()
		return err
	}
	if err := os.Rename(out.Name(), s.path(f.Name)); err != nil {
		return err
	}
	if err := durable.Sync(s.dirOf(f.Name)); err != nil {
		return errors.Join(err, os.Remove(s.path(f.Name)))
	}
	return nil
}

// delete removes the objects of locations.
func (s *Store) delete(ctx context.Context, list []location) error {
	var all error
	keys := map[DepotID][]string{}
	for _, l := range list {
		if l.depot == 0 {
			all = errors.Join(all, ignoreMissing(os.Remove(s.path(l.name))))
			continue
		}
		keys[l.depot] = append(keys[l.depot], Path(l.name))
	}
	for id, list := range keys {
		d, err := s.depot(ctx, id)
		for len(list) > 0 && err == nil {
			n := min(len(list), depot.MaxKeys)
			err = d.Delete(ctx, list[:n])
			list = list[n:]
		}
		all = errors.Join(all, err)
	}
	return all
}

// copyIn writes bytes to a temporary file beside the place of a name. The caller closes and removes it.
func (s *Store) copyIn(name string, from io.Reader) (*os.File, error) {
	dir := s.dirOf(name)
	if err := s.makeDir(dir); err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(dir, durable.Temporary)
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(durable.NewWriter(out), from); err != nil {
		return nil, errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	return out, nil
}

// isMissing reports that a place has no object.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

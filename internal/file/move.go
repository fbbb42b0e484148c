package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/depot"
)

// MoveOptions say where the files of a store move.
type MoveOptions struct {
	To       string // address in its one form (depot.Canonical); empty: the data folder
	Progress func(done, all int64)
	Problem  func(line string) // called for each file that cannot be moved, by one goroutine at a time
}

// Moved says what a move did.
type Moved struct {
	Files, Bytes int64
	Left         int64 // files not in the new place: they could not be moved, or were added during the move
}

// RestartError is returned while running servers do not use the new place yet. They would store new files in the
// old place, or could not read moved files because they lack the access keys.
type RestartError struct{ Servers int }

// Error says what to do.
func (e *RestartError) Error() string {
	return fmt.Sprintf("%d servers of this store still use the old place: restart them one by one with the new one "+
		"(--objects), then run this command again", e.Servers)
}

// Move moves all files of the store to another place while servers run. Each file is read and compared with its
// digest, stored there, read back, and only then is its row changed and the old copy removed. It may be killed and
// run again: what has moved is not moved twice. Errors: *RestartError; *depot.IdentityError; 503.
func (s *Store) Move(ctx context.Context, o MoveOptions) (Moved, error) {
	row, err := s.choose(ctx, o.To)
	if err != nil {
		return Moved{}, err
	}
	if row.chosenAt != 0 {
		if err := s.refuseOlder(ctx, row); err != nil {
			return Moved{}, err
		}
	}
	m := &move{s: s, o: o}
	if o.To != "" {
		m.id = row.id
		if m.to, err = s.open(row); err != nil {
			return Moved{}, err
		}
	}
	return m.moved, m.run(ctx)
}

// LeaveEmpty removes the rows of depots that are empty, and the store's id from these depots. It keeps the place of
// new files.
func (s *Store) LeaveEmpty(ctx context.Context) error {
	id, _, err := s.current(ctx)
	if err != nil {
		return err
	}
	return s.leaveEmpty(ctx, &depotRow{id: id})
}

// clockStep is more than the resolution of the databases' clocks, in microseconds.
const clockStep = 10_000

// refuseOlder returns an error while servers run that were started before a place was chosen.
func (s *Store) refuseOlder(ctx context.Context, row *depotRow) error {
	older := 0
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := db.Nodes(tx)
		older = 0
		for _, n := range list {
			if n.Live && n.Started < row.chosenAt+clockStep {
				older++
			}
		}
		return err
	})
	if err == nil && older > 0 {
		err = &RestartError{older}
	}
	return err
}

// move is one move.
type move struct {
	s    *Store
	o    MoveOptions
	id   DepotID
	to   *depot.Depot // nil: the data folder
	done atomic.Int64 // bytes

	mu    sync.Mutex
	moved Moved
}

// batch is how many files are moved before the next are looked for.
const batch = 256

func (m *move) run(ctx context.Context) error {
	var all int64
	err := m.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		_, all, err = outside(tx, m.id)
		return err
	})
	after := ""
	for err == nil {
		m.o.Progress(m.done.Load(), all)
		var list []*File
		err = m.s.db.Read(ctx, func(tx *db.Tx) (err error) {
			list, err = nextOutside(tx, m.id, after, batch)
			return err
		})
		if err != nil || len(list) == 0 {
			break
		}
		after = list[len(list)-1].Name
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(parallel)
		for _, f := range list {
			g.Go(func() error {
				err := m.one(ctx, f)
				m.o.Progress(m.done.Add(f.Size), all)
				return err
			})
		}
		err = g.Wait()
	}
	if err != nil {
		return err
	}
	return m.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		m.moved.Left, _, err = outside(tx, m.id)
		return err
	})
}

// one moves a file. A file that is damaged stays, and is a problem.
func (m *move) one(ctx context.Context, f *File) error {
	err := m.transfer(ctx, f)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now, askErr := m.s.now(ctx, f)
	if askErr != nil || now == nil { // deleted during the move
		return askErr
	}
	if !errors.Is(err, depot.ErrDamaged) && !isMissing(err) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.o.Problem(fmt.Sprintf("%s: %v", Path(f.Name), err))
	return nil
}

func (m *move) transfer(ctx context.Context, f *File) error {
	in, err := m.s.Open(ctx, f)
	if err != nil {
		return err
	}
	defer in.Close()
	spooled, err := m.s.spool(f, in)
	if err != nil {
		return err
	}
	defer os.Remove(spooled.Name())
	defer spooled.Close()
	if m.to == nil {
		err = spooled.Sync()
	}
	if err == nil {
		err = m.s.keep(ctx, f, spooled, m.to)
	}
	if err != nil {
		return err
	}
	there := *f
	there.Depot = m.id
	if err := m.s.Compare(ctx, &there); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	var done bool
	err = m.s.db.Write(ctx, func(tx *db.Tx) (err error) {
		done, err = setDepot(tx, f, m.id)
		return err
	})
	if err != nil || !done {
		return err
	}
	m.mu.Lock()
	m.moved.Files++
	m.moved.Bytes += f.Size
	m.mu.Unlock()
	m.s.remove(context.WithoutCancel(ctx), []location{f.location()})
	return nil
}

// spool copies a file into the data folder, and compares it with its digest.
func (s *Store) spool(f *File, in io.Reader) (*os.File, error) {
	sum := newSum(in)
	out, err := s.copyIn(f.Name, sum)
	if err != nil {
		return nil, err
	}
	if err := sum.compare(f); err != nil {
		return nil, errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	return out, nil
}

// Compare reads a file whole where its row says that it lies, and compares it with its digest. Errors: ErrMissing and
// ErrDamaged of package depot; 503 with one of them or another cause.
func (s *Store) Compare(ctx context.Context, f *File) error {
	in, err := s.openAt(ctx, f)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := newSum(in)
	if _, err := io.Copy(io.Discard, sum); err != nil {
		return err
	}
	return sum.compare(f)
}

// leaveEmpty forgets depots in which no file lies any longer, and removes the store's id from them.
func (s *Store) leaveEmpty(ctx context.Context, but *depotRow) error {
	rows, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]depotRow, error) { return depots(tx) })
	for _, row := range rows {
		if err != nil || row.id == but.id {
			continue
		}
		err = s.leave(ctx, &row)
	}
	return err
}

func (s *Store) leave(ctx context.Context, row *depotRow) error {
	d, err := s.open(row)
	if err != nil {
		return err
	}
	if err := d.Clear(ctx, depot.SecretKeys); err != nil {
		return err
	}
	has, err := db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) { return liesIn(tx, row.id) })
	if err != nil || has {
		return err
	}
	empty, err := d.Empty(ctx)
	if err != nil || !empty { // the sweep removes what is left
		return err
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return removeDepot(tx, row.id) }); err != nil {
		return err
	}
	return d.Release(ctx)
}

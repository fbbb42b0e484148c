package identity

import (
	"context"
	"errors"

	"arbor/internal/db"
)

// Claim binds a folder to a database, and ends the earlier bindings of both. No server may work on either. Errors:
// *db.InUseError; that the folder holds repositories, and the database nothing.
func Claim(ctx context.Context, d *db.DB, s Store) error {
	row, err := readUnused(ctx, d)
	if err != nil {
		return err
	}
	if row.Fresh {
		if err := s.refuseRepositories(); err != nil {
			return err
		}
	}
	id := newID() // a new id invalidates everything that holds the old one
	if err := replace(ctx, d, rowOf(id, s.Folder)); err != nil {
		return err
	}
	return replaceFile(s.Folder, fileOf(id, s.address()))
}

// readUnused is read for a database on which no server may work.
func readUnused(ctx context.Context, d *db.DB) (r row, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		if err := db.CheckUnused(tx); err != nil {
			return err
		}
		r, err = readRow(tx)
		return err
	})
	return r, err
}

// Move moves the rows of a database into another one. Until Finish has replaced the folder's file, the old database
// is valid and the new one is refused; from then on, the new one is valid and the old one is refused.
type Move struct {
	from  *db.DB
	to    db.Options
	store Store // the folder, with the new database
	id    string
}

// BeginMove prepares a move of the store s from its database into another one, which must be empty except for the
// rows of an unfinished earlier move; these are removed. Errors: db.ErrNotEmpty; *db.InUseError.
func BeginMove(ctx context.Context, from *db.DB, s Store, to db.Options) (*Move, error) {
	if err := Bind(ctx, from, s, Serve); err != nil {
		return nil, err
	}
	source, err := readUnused(ctx, from)
	if err != nil {
		return nil, err
	}
	m := &Move{from: from, to: to, store: Store{s.Folder, to.URL}, id: newID()}
	target, err := m.target(ctx, readUnused)
	if err != nil {
		return nil, err
	}
	left := target.MovedFrom == source.Store && target.MovedTo == ""
	switch {
	case target.Store != "" && !left && target.Fresh:
		return nil, m.store.otherFolder(target)
	case !left && !target.Fresh:
		return nil, db.ErrNotEmpty
	case !target.Fresh:
		if err := db.Erase(ctx, to); err != nil {
			return nil, err
		}
	}
	return m, m.setTarget(ctx, row{Store: m.id, Folder: s.Folder, MovedFrom: source.Store})
}

// target runs a function on the other database.
func (m *Move) target(ctx context.Context, do func(context.Context, *db.DB) (row, error)) (row, error) {
	d, err := db.Open(ctx, m.to)
	if err != nil {
		return row{}, err
	}
	r, err := do(ctx, d)
	return r, errors.Join(err, d.Close())
}

func (m *Move) setTarget(ctx context.Context, r row) error {
	_, err := m.target(ctx, func(ctx context.Context, d *db.DB) (row, error) { return r, replace(ctx, d, r) })
	return err
}

// Finish marks the other database as the valid one: all rows are there. Error: *db.InUseError for a
// server that was started during the move; a second move begins again.
func (m *Move) Finish(ctx context.Context) error {
	if _, err := readUnused(ctx, m.from); err != nil {
		return err
	}
	if err := replaceFile(m.store.Folder, fileOf(m.id, m.store.address())); err != nil {
		return err
	}
	return setMoved(ctx, m.from, m.store.address())
}

// Abandon leaves the other database as it was: the rows did not get there.
func (m *Move) Abandon(ctx context.Context) error { return m.setTarget(ctx, row{}) }

package backup

import (
	"context"
	"errors"
	"io"

	"arbor/internal/backup/tables"
	"arbor/internal/db"
	"arbor/internal/identity"
)

// MoveDatabase moves all rows of a store's database into an empty one, of either engine, which from then on is
// the store's. No server may run during that. If it is killed, either database is the store's, and a second
// call with the old one begins again. Errors: db.ErrNotEmpty; *db.InUseError; those of package identity.
func MoveDatabase(ctx context.Context, from *db.DB, of identity.Store, to db.Options) error {
	move, err := identity.BeginMove(ctx, from, of, to)
	if err != nil {
		return err
	}
	err = copyRows(ctx, from, to)
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return errors.Join(err, move.Abandon(ctx))
	}
	return move.Finish(ctx)
}

// copyRows copies all rows of a database into an empty one.
func copyRows(ctx context.Context, from *db.DB, to db.Options) error {
	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		first := true
		err := from.ReadLong(ctx, func(tx *db.Tx) error {
			if !first {
				return io.ErrUnexpectedEOF // half of it is on its way already
			}
			first = false
			_, err := tables.Write(tx, out)
			return err
		})
		sent <- err
		out.CloseWithError(err)
	}()
	err := load(ctx, in, to, nil)
	in.CloseWithError(err)
	if failed := <-sent; failed != nil && err == nil {
		err = failed
	}
	return err
}

// load fills a database with tables, but for the rows that leave out, if given, chooses.
func load(ctx context.Context, from io.Reader, to db.Options, leaveOut func(*db.Table, []any) bool) error {
	r, err := tables.NewReader(from)
	if err != nil {
		return err
	}
	return db.Load(ctx, to, func() (*db.TableRows, error) {
		t, err := r.Next()
		if t == nil || err != nil || leaveOut == nil {
			return t, err
		}
		next := t.Next
		t.Next = func() (row []any, err error) {
			for row, err = next(); row != nil && err == nil && leaveOut(&t.Table, row); {
				row, err = next()
			}
			return row, err
		}
		return t, nil
	})
}

package backup

import (
	"context"
	"io"

	"arbor/internal/backup/tables"
	"arbor/internal/db"
)

// MoveDatabase copies all rows of a database into an empty one, of either engine. No server
// may run meanwhile: what it writes later stays behind. Errors: db.ErrNotEmpty; *db.InUseError.
func MoveDatabase(ctx context.Context, from *db.DB, to db.Options) error {
	if err := from.Read(ctx, db.CheckUnused); err != nil {
		return err
	}
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

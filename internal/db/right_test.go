package db_test

import (
	"errors"
	"slices"
	"testing"

	"arbor/internal/db"
)

var errRevoked = errors.New("the right was revoked")

// lasting is a right that holds as long as a counter is below a number.
type lasting struct {
	counter string
	below   int64
}

func (r lasting) Holds(tx *db.Tx) error {
	var n int64
	err := tx.QueryRow(`SELECT COALESCE(MAX(n), 0) FROM counters WHERE name = $1`, r.counter).Scan(&n)
	if err == nil && n >= r.below {
		err = errRevoked
	}
	return err
}

// A write by a right that has ended changes nothing, also if the right ends within the write itself.
func TestWriteAs(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		once := lasting{"a", 2}
		for n, want := range []error{nil, errRevoked} { // the second write would end its own right
			if err := d.WriteAs(t.Context(), once, count("a")); err != want {
				t.Errorf("write %d: %v, want %v", n, err, want)
			}
		}
		var calls []string
		err := d.WriteAs(t.Context(), once, func(tx *db.Tx) error {
			tx.BeforeCommit(func(*db.Tx) error { calls = append(calls[:0], "last"); return nil })
			if err := tx.Check(); err != nil { // before it ends
				return err
			}
			return count("a")(tx)
		})
		if err != nil || !slices.Equal(calls, []string{"last"}) {
			t.Errorf("a write that checks first: %v, then %q", err, calls)
		}
		err = d.WriteAs(t.Context(), once, func(*db.Tx) error { return errRefused })
		if err != errRevoked {
			t.Errorf("a write that fails, without its right: %v", err)
		}
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'a'`); n != 2 {
			t.Errorf("%d writes counted, want 2", n)
		}
	})
}

// atMost limits a counter.
type atMost struct {
	counter string
	most    int64
}

var errExceeded = errors.New("the limit was exceeded")

func (a atMost) Send(tx *db.Tx) (exceeded func() error, err error) {
	var n int64
	err = tx.SendEach(func(row db.Scanner) error { return row.Scan(&n) }, `SELECT n FROM counters WHERE name = $1`, a.counter)
	return func() error {
		if n > a.most {
			return errExceeded
		}
		return nil
	}, err
}

// A limit holds for all that a request writes, wherever its right was checked. What else fails is told first, and the
// server's own writes have no limit.
func TestBound(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := db.WithBound(t.Context(), atMost{"a", 1})
		right, checks := lasting{"b", 2}, func(tx *db.Tx) error { return errors.Join(tx.Check(), count("a")(tx)) }
		for n, c := range []struct {
			right db.Right
			write func(*db.Tx) error
			want  error
		}{
			{right, count("a"), nil},
			{right, count("a"), errExceeded},
			{right, checks, errExceeded},
			{right, func(*db.Tx) error { return nil }, nil},
			{right, func(tx *db.Tx) error { return errors.Join(count("a")(tx), errRefused) }, errRefused},
			{lasting{"b", 0}, count("a"), errRevoked},
			{db.Server, count("a"), nil},
			{right, func(*db.Tx) error { return nil }, errExceeded},
		} {
			if err := d.WriteAs(ctx, c.right, c.write); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("write %d: %v, want %v", n, err, c.want)
			}
		}
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'a'`); n != 2 {
			t.Errorf("%d writes counted, want 2", n)
		}
	})
}

// An operation that forgets the right of the request fails. The server's own right is named.
func TestChangingRequestsNeedRights(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := db.WithRightRequired(t.Context())
		unasked := func(tx *db.Tx) error { return tx.CheckOutsideRequest() }
		for name, write := range map[string]func() error{
			"no right":         func() error { return d.Write(ctx, count("a")) },
			"a nil right":      func() error { return d.WriteAs(ctx, nil, count("a")) },
			"without a caller": func() error { return d.WriteAs(ctx, rightFunc(unasked), count("a")) },
		} {
			if err := write(); !errors.Is(err, db.ErrNoRight) {
				t.Errorf("%s: %v", name, err)
			}
		}
		err := errors.Join(d.WriteAs(ctx, db.Server, count("b")), d.WriteAs(ctx, lasting{"b", 5}, count("b")),
			d.WriteAs(t.Context(), nil, count("b")), d.WriteAs(t.Context(), rightFunc(unasked), count("b")),
			d.Read(ctx, unasked))
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'b'`); n != 4 || err != nil {
			t.Errorf("%d writes, %v", n, err)
		}
		if n := number(t, d, `SELECT count(*) FROM counters WHERE name = 'a'`); n != 0 {
			t.Error("a write without a right changed something")
		}
	})
}

type rightFunc func(tx *db.Tx) error

func (f rightFunc) Holds(tx *db.Tx) error { return f(tx) }

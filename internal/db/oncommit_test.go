package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A worker that is rung before the commit finds nothing and sleeps again. A cache that
// is filled in a transaction that is rolled back is wrong.
func TestOnCommit(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var calls []string
		note := func(tx *db.Tx, name string) {
			tx.OnCommit(func() {
				if n := number(t, d, `SELECT count(*) FROM counters WHERE name = 'a'`); n != 1 {
					t.Errorf("%s was called when %d rows could be read", name, n)
				}
				calls = append(calls, name)
			})
		}
		mustWrite(t, d, func(tx *db.Tx) error {
			note(tx, "first")
			defer note(tx, "third")
			note(tx, "second")
			return count("a")(tx)
		})
		if want := []string{"first", "second", "third"}; !slices.Equal(calls, want) {
			t.Errorf("calls %q, want %q before Write returns", calls, want)
		}
		mustWrite(t, d, func(tx *db.Tx) error {
			tx.OnCommit(func() { mustWrite(t, d, count("b")) })
			return nil
		})
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'b'`); n != 1 {
			t.Errorf("what follows a commit wrote %d", n)
		}
		read := false
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			tx.OnCommit(func() { read = true })
			return nil
		})
		if err != nil || !read {
			t.Errorf("after a Read: called %v, %v", read, err)
		}
	})
}

// After a rollback no OnCommit function is called, whatever caused the rollback.
func TestOnCommitAfterARollback(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
		refused := func(*db.Tx) error { return errRefused }
		swallowed := func(tx *db.Tx) error {
			_ = stmt(`INSERT INTO parents (name) VALUES ('a')`)(tx)
			return nil
		}
		for name, end := range map[string]func(*db.Tx) error{
			"an error":          refused,
			"a swallowed one":   swallowed,
			"an open reference": stmt(`INSERT INTO children (parent_id, later_id) VALUES (1, 99)`),
			"a panic":           func(*db.Tx) error { panic("oops") },
		} {
			err := errors.New("panic")
			func() {
				defer func() { recover() }()
				err = d.Write(t.Context(), func(tx *db.Tx) error {
					tx.OnCommit(func() { t.Errorf("called after %s", name) })
					return end(tx)
				})
			}()
			if err == nil {
				t.Errorf("%s committed", name)
			}
			err = d.Read(t.Context(), func(tx *db.Tx) error {
				tx.OnCommit(func() { t.Error("called after a read that failed") })
				return errRefused
			})
			if !errors.Is(err, errRefused) {
				t.Error(err)
			}
		}
	})
}

// Members of a shared commit that fails run again. Each of them that comes to
// be is told once, and only when its row can be read.
func TestOnCommitInACrowd(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
		const writers, each = 8, 30
		var told atomic.Int64
		crowd(writers, each, func(w, i int) {
			later, name := 1, fmt.Sprint(w, " ", i)
			if w == 0 {
				later = 99 // found to be missing by the commit of all
			}
			called := 0
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				tx.OnCommit(func() {
					called++
					told.Add(1)
					if n := number(t, d, `SELECT count(*) FROM counters WHERE name = $1`, name); n != 1 {
						t.Errorf("told before the commit: %d rows", n)
					}
				})
				if err := count(name)(tx); err != nil {
					return err
				}
				return stmt(`INSERT INTO children (parent_id, later_id) VALUES (1, $1)`, later)(tx)
			})
			if (err == nil) != (w != 0) || (called == 1) != (err == nil) {
				t.Errorf("writer %d: called %d times, %v", w, called, err)
			}
		})
		if n := told.Load(); n != (writers-1)*each {
			t.Errorf("%d were told of %d commits", n, (writers-1)*each)
		}
	})
}

// A run that is repeated because its connection broke leaves no calls behind.
func TestOnCommitOfARepeatedRun(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if d.Engine() == db.SQLite {
			t.Skip("has no connection to lose")
		}
		runs, calls := 0, []int(nil)
		cut := func(tx *db.Tx) error {
			runs++
			run := runs
			tx.OnCommit(func() { calls = append(calls, run) })
			if run > 1 {
				return nil
			}
			return stmt(`SELECT pg_terminate_backend(pg_backend_pid())`)(tx)
		}
		mustWrite(t, d, cut)
		if !slices.Equal(calls, []int{2}) {
			t.Errorf("calls of the runs %d, want the second's", calls)
		}
		runs, calls = 0, nil
		if err := d.Read(t.Context(), cut); err != nil || !slices.Equal(calls, []int{2}) {
			t.Errorf("reading: calls of the runs %d, want the second's; %v", calls, err)
		}
	})
}

// What is called before the commit reads all that the function wrote, and can undo it. SendThen calls only
// where rows were changed.
func TestBeforeCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		count := func(tx *db.Tx) (n int64) {
			t.Helper()
			testkit.NoError(t, tx.QueryRow(`SELECT COUNT(*) FROM generations WHERE topic LIKE 'before%'`).Scan(&n))
			return n
		}
		const add = `INSERT INTO generations (topic, value) SELECT $1, 1 WHERE CAST($2 AS BIGINT) = 1`
		var seen []int64
		write := func(rows int64, end error) error {
			seen = nil
			return d.Write(t.Context(), func(tx *db.Tx) error {
				seen = nil
				tx.Attach("key", rows)
				err := tx.SendThen("bell", add, func(tx *db.Tx) error {
					if got := tx.Attached("key"); got != rows {
						t.Errorf("attached is %v, want %d", got, rows)
					}
					seen = append(seen, count(tx))
					return end
				}, "before", rows)
				if err == nil {
					err = tx.Run(add, "before, and more", int64(1))
				}
				return err
			})
		}
		if err := write(0, nil); err != nil || seen != nil {
			t.Errorf("no row was changed: %v, called with %v", err, seen)
		}
		testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`DELETE FROM generations WHERE topic LIKE 'before%'`)
		}))
		broken := errors.New("broken")
		if err := write(1, broken); !errors.Is(err, broken) {
			t.Errorf("error %v, want that of what is called", err)
		}
		bell := d.Bell("bell")
		if err := write(1, nil); err != nil || !slices.Equal(seen, []int64{2}) {
			t.Errorf("error %v, called with %v", err, seen)
		}
		select {
		case <-bell:
		default:
			t.Error("no bell was rung")
		}
	})
}

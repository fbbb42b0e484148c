//go:build long

package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// twice opens a database whose functions run twice, and gives the traced statements.
func twice(t *testing.T) (d *db.DB, traced *[]string) {
	t.Helper()
	traced = new([]string)
	d, err := db.OpenWith(context.Background(), db.Options{
		URL:   dbtest.Empty(t, db.SQLite),
		Trace: func(_ context.Context, query string) { *traced = append(*traced, query) },
	}, schema)
	testkit.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d, traced
}

// In tests on SQLite every function runs twice. The first run must leave nothing behind, and the
// function must count once: else the tests would test another program.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	d, traced := twice(t)
	runs, calls := 0, 0
	mustWrite(t, d, func(tx *db.Tx) error {
		runs++
		tx.OnCommit(func() { calls++ })
		return errors.Join(count("a")(tx), tx.Bump("topic"))
	})
	if n := number(t, d, `SELECT n FROM counters`); n != 1 || runs != 2 || calls != 1 {
		t.Errorf("%d runs counted to %d and left %d calls", runs, n, calls)
	}
	if n, err := d.Generation(t.Context(), "topic"); n != 1 || err != nil {
		t.Errorf("the generation is %d, %v", n, err)
	}
	*traced, runs = nil, 0
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		runs++
		return stmt(`SELECT 1`)(tx)
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs of a read, %v", runs, err)
	}
	if !slices.Equal(*traced, []string{`SELECT 1`}) {
		t.Errorf("traced %q", *traced)
	}
}

// The second run decides how a function ends. A failure of the first leaves nothing.
func TestRunTwiceWithFailures(t *testing.T) {
	t.Parallel()
	d, _ := twice(t)
	mustWrite(t, d, stmt(`INSERT INTO parents (name) VALUES ('a')`))
	fails := []func(*db.Tx) error{
		func(*db.Tx) error { return errRefused },
		stmt(`INSERT INTO parents (name) VALUES ('a')`),
		stmt(`INSERT INTO children (parent_id, later_id) VALUES (1, 99)`), // noticed by COMMIT
		func(tx *db.Tx) error { tx.Query(`SELECT name FROM parents`); return nil },
	}
	for n, fail := range fails {
		runs := 0
		mustWrite(t, d, func(tx *db.Tx) error {
			if runs++; runs == 1 {
				if err := count("x")(tx); err != nil {
					return err
				}
				return fail(tx)
			}
			return count("y")(tx)
		})
		if x := number(t, d, `SELECT count(*) FROM counters WHERE name = 'x'`); x != 0 {
			t.Errorf("failure %d left a row of the first run", n)
		}
		if y := number(t, d, `SELECT n FROM counters WHERE name = 'y'`); y != int64(n+1) || runs != 2 {
			t.Errorf("failure %d: %d runs counted to %d", n, runs, y)
		}
	}
	err := d.Write(t.Context(), stmt(`INSERT INTO parents (name) VALUES ('a')`))
	if !errors.Is(err, db.ErrUnique) {
		t.Errorf("two failures are %v", err)
	}
}

// Rows have the same ids as if functions ran once: tests name rows by their ids.
func TestRunTwiceLeavesNoGaps(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	for want := range int64(3) {
		var id int64
		mustWrite(t, d, func(tx *db.Tx) error {
			return tx.QueryRow(`INSERT INTO texts_changed (issue_id, comment_id) VALUES (1, 1)
				RETURNING id`).Scan(&id)
		})
		if id != want+1 {
			t.Errorf("row %d has the id %d", want+1, id)
		}
	}
}

package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Statements that were sent run in their order, before what comes after them, and are part of the transaction.
func TestSend(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		send := func(tx *db.Tx, names ...string) error {
			for _, name := range names {
				if err := tx.Send(`INSERT INTO parents (name) VALUES ($1)`, name); err != nil {
					return err
				}
			}
			return nil
		}
		parents := func() int64 { return number(t, d, `SELECT COUNT(*) FROM parents`) }

		mustWrite(t, d, func(tx *db.Tx) error { return send(tx, "a", "b") }) // nothing follows
		mustWrite(t, d, func(tx *db.Tx) error {
			if err := send(tx, "c"); err != nil {
				return err
			}
			var n int
			if err := tx.QueryRow(`SELECT COUNT(*) FROM parents`).Scan(&n); err != nil || n != 3 {
				t.Errorf("a later statement sees %d, %v", n, err)
			}
			if err := send(tx, "d"); err != nil {
				return err
			}
			changed, err := tx.Exec(`UPDATE parents SET name = name || 'x' WHERE name = 'd'`)
			if changed != 1 {
				t.Errorf("a later update changes %d", changed)
			}
			return err
		})
		if n := parents(); n != 4 {
			t.Errorf("%d rows", n)
		}

		// An error is that of the transaction, wherever it shows.
		for _, after := range []func(*db.Tx) error{
			func(*db.Tx) error { return nil },
			func(tx *db.Tx) error { return tx.Run(`DELETE FROM parents`) },
			func(tx *db.Tx) error { _, err := tx.Query(`SELECT 1`); return err },
			func(tx *db.Tx) error { return send(tx, "e") },
			func(tx *db.Tx) error { tx.BeforeCommit(func(*db.Tx) error { return nil }); return nil },
			func(tx *db.Tx) error { return tx.Bump("topic") },
		} {
			committed := false
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				tx.OnCommit(func() { committed = true })
				if err := send(tx, "f", "a"); err != nil {
					return err
				}
				return after(tx)
			})
			// PostgreSQL's may be told for another statement, so it is no sentinel.
			if err == nil || (engine == db.SQLite) != errors.Is(err, db.ErrUnique) || committed || parents() != 4 {
				t.Errorf("error %v, committed: %v, %d rows", err, committed, parents())
			}
		}
		failed := errors.New("failed")
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			return errors.Join(send(tx, "g"), failed)
		})
		if !errors.Is(err, failed) || parents() != 4 {
			t.Errorf("error %v, %d rows", err, parents())
		}
		ctx, cancel := context.WithCancel(t.Context())
		if engine == db.PostgreSQL { // SQLite's writes end what they began
			err = d.Write(ctx, func(tx *db.Tx) error { defer cancel(); return send(tx, "h") })
			if !errors.Is(err, context.Canceled) || parents() != 4 {
				t.Errorf("error %v, %d rows", err, parents())
			}
		}
		cancel()
	})
}

// A bell rings whatever else the transaction runs after its statement, but not if that changed no rows, or before
// its row can be read.
func TestSendRing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, count("a"))
		bell := d.Bell("bell")
		const change = `UPDATE counters SET n = n + 1 WHERE name = $1`
		for name, after := range map[string]func(*db.Tx) error{
			"nothing":                       func(tx *db.Tx) error { return nil },
			"a statement":                   count("b"),
			"a statement without an answer": func(tx *db.Tx) error { return tx.Send(change, "b") },
			"a bump":                        func(tx *db.Tx) error { return tx.Bump("topic") },
			"a last check":                  func(tx *db.Tx) error { tx.BeforeCommit(count("b")); return nil },
		} {
			for _, row := range []string{"a", "absent"} {
				mustWrite(t, d, func(tx *db.Tx) error {
					return errors.Join(tx.SendRing("bell", change, row), after(tx))
				})
				rung := false
				select {
				case <-bell:
					rung = true
				default:
				}
				if rung != (row == "a") {
					t.Errorf("a change of %q followed by %s: rung is %v", row, name, rung)
				}
			}
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				return errors.Join(tx.SendRing("bell", change, "a"), after(tx), errRefused)
			})
			if !errors.Is(err, errRefused) {
				t.Error(err)
			}
			select {
			case <-bell:
				t.Errorf("rung after a rollback and %s", name)
			default:
			}
		}
	})
}

// Rows of statements that were sent are read in their order, no later than what the next statement returns. An error
// of reading them is that of the transaction.
func TestSendEach(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, count("a"))
		var read []string
		ask := func(tx *db.Tx) error {
			return tx.SendEach(func(row db.Scanner) error {
				var name string
				err := row.Scan(&name)
				read = append(read, name)
				return err
			}, `SELECT name FROM counters ORDER BY name`)
		}
		add := func(tx *db.Tx) error { return tx.Send(`INSERT INTO counters (name, n) VALUES ('b', 1)`) }
		for name, end := range map[string]func(*db.Tx) error{
			"an end of the wait": (*db.Tx).Flush,
			"a query":            func(tx *db.Tx) error { var n int; return tx.QueryRow(`SELECT 1`).Scan(&n) },
			"a change":           func(tx *db.Tx) error { _, err := tx.Exec(`DELETE FROM parents`); return err },
		} {
			read = nil
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				read = nil
				if err := errors.Join(ask(tx), add(tx), ask(tx), end(tx)); err != nil {
					t.Error(err)
				}
				if !slices.Equal(read, []string{"a", "a", "b"}) {
					t.Errorf("%s: read %q", name, read)
				}
				return errRefused
			})
			if !errors.Is(err, errRefused) {
				t.Error(err)
			}
		}
		refuse := func(tx *db.Tx) error {
			return tx.SendEach(func(db.Scanner) error { return errRefused }, `SELECT name FROM counters`)
		}
		for _, after := range []func(*db.Tx) error{count("c"), func(*db.Tx) error { return nil }} {
			err := d.Write(t.Context(), func(tx *db.Tx) error { return errors.Join(refuse(tx), after(tx)) })
			if n := number(t, d, `SELECT COUNT(*) FROM counters`); !errors.Is(err, errRefused) || n != 1 {
				t.Errorf("error %v, %d rows", err, n)
			}
		}
	})
}

// A function before the commit has the rows of what was sent before it, whatever the right asks.
func TestSendEachBeforeCommit(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for _, right := range []db.Right{nil, db.Server, lasting{"a", 5}} {
			read, seen := 0, 0
			err := d.WriteAs(t.Context(), right, func(tx *db.Tx) error {
				read = 0
				tx.BeforeCommit(func(*db.Tx) error { seen = read; return nil })
				return tx.SendEach(func(db.Scanner) error { read++; return nil }, `SELECT 1`)
			})
			if err != nil || seen != 1 {
				t.Errorf("%v: before the commit %d rows were read, %v", right, seen, err)
			}
		}
	})
}

// What SendThen registers is called before the commit, also for a statement that a call before the commit sends.
func TestSendThen(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, count("a"))
		const change = `UPDATE counters SET n = n + 1 WHERE name = $1`
		mustWrite(t, d, func(tx *db.Tx) error {
			return tx.SendThen("bell", change, func(tx *db.Tx) error {
				return tx.SendThen("bell", change, count("b"), "a")
			}, "a")
		})
		mustWrite(t, d, func(tx *db.Tx) error { return tx.SendThen("bell", change, count("c"), "absent") })
		if n := number(t, d, `SELECT n FROM counters WHERE name = 'a'`); n != 3 {
			t.Errorf("the counter is %d", n)
		}
		if n := number(t, d, `SELECT COUNT(*) FROM counters`); n != 2 {
			t.Errorf("%d counters", n)
		}
	})
}

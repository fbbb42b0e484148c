package db_test

import (
	"errors"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// A bell rings whatever else the transaction runs after its statement, but not if that changed no rows, or before
// its row can be read.
func TestRunRing(t *testing.T) {
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
					return errors.Join(tx.RunRing("bell", change, row), after(tx))
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
				return errors.Join(tx.RunRing("bell", change, "a"), after(tx), errRefused)
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

// A statement that was sent counts like one that was run: those after it see its rows, its error is that of the
// transaction, and nothing of a transaction that ends otherwise stays.
func TestSend(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const add = `INSERT INTO parents (name) VALUES ($1)`
		seen := 0
		mustWrite(t, d, func(tx *db.Tx) error {
			if err := errors.Join(tx.Send(add, "a"), tx.Send(add, "b")); err != nil {
				return err
			}
			if err := tx.QueryRow(`SELECT count(*) FROM parents`).Scan(&seen); err != nil {
				return err
			}
			n, err := tx.Exec(`UPDATE parents SET name = name || 'x' WHERE name IN ('a', 'b')`)
			if n != 2 {
				t.Errorf("%d rows changed", n)
			}
			return err
		})
		if seen != 2 {
			t.Errorf("a transaction sees %d rows that it sent", seen)
		}
		for name, after := range map[string]func(*db.Tx) error{
			"nothing":     func(tx *db.Tx) error { return nil },
			"a read":      func(tx *db.Tx) error { _ = tx.QueryRow(`SELECT 1`).Scan(new(int)); return nil },
			"a statement": func(tx *db.Tx) error { _ = count("c")(tx); return nil },
			"a bump":      func(tx *db.Tx) error { _ = tx.Bump("topic"); return nil },
			"a last check": func(tx *db.Tx) error {
				tx.BeforeCommit(func(tx *db.Tx) error { return tx.Send(add, "d") })
				return nil
			},
		} {
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				tx.OnCommit(func() { t.Errorf("committed a clash followed by %s", name) })
				_ = tx.Send(add, "c")
				_ = tx.Send(add, "ax")
				return after(tx)
			})
			if !errors.Is(err, db.ErrUnique) {
				t.Errorf("a clash followed by %s: %v", name, err)
			}
		}
		err := d.WriteAs(t.Context(), ends{}, func(tx *db.Tx) error { return tx.Send(add, "c") })
		if !errors.Is(err, errRefused) {
			t.Errorf("without a right: %v", err)
		}
		if n := number(t, d, `SELECT count(*) FROM parents`); n != 2 {
			t.Errorf("%d rows after rollbacks", n)
		}
		// A read that sends what writes fails as one that runs it.
		if err := d.Read(t.Context(), func(tx *db.Tx) error { return tx.Send(add, "c") }); err == nil {
			t.Error("a Read wrote")
		}
		testkit.NoError(t, d.Answers(t.Context()))
	})
}

// ends is a right that has ended.
type ends struct{}

func (ends) Holds(*db.Tx) error { return errRefused }

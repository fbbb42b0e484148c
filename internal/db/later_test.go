package db_test

import (
	"errors"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// A statement that is sent later fails its transaction as any other does: whatever comes
// after it does not count, and the caller learns of it.
func TestStatementThatIsSentLater(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openAt(t, dbtest.Empty(t, engine))
		insert := func(tx *db.Tx, name string) error {
			return tx.Run(`INSERT INTO counters (name, n) VALUES ($1, 1)`, name)
		}
		read := func(tx *db.Tx) (n int64, err error) {
			err = tx.QueryRow(`SELECT count(*) FROM counters WHERE name LIKE 'later%'`).Scan(&n)
			return n, err
		}
		var seen int64
		if err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
			if err := errors.Join(insert(tx, "later1"), insert(tx, "later2")); err != nil {
				return err
			}
			seen, err = read(tx)
			return err
		}); err != nil || seen != 2 {
			t.Errorf("the transaction saw %d rows: %v", seen, err)
		}
		for name, then := range map[string]func(tx *db.Tx) error{
			"nothing":     func(*db.Tx) error { return nil },
			"a query":     func(tx *db.Tx) error { _, err := read(tx); return err },
			"one ignored": func(tx *db.Tx) error { _, _ = read(tx); return nil },
			"another":     func(tx *db.Tx) error { return insert(tx, "later9") },
			"a bump":      func(tx *db.Tx) error { return tx.Bump("a topic") },
		} {
			called := false
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				tx.OnCommit(func() { called = true })
				if err := insert(tx, "later3"); err != nil {
					return err
				}
				if err := insert(tx, "later1"); err != nil { // is there already
					return err
				}
				return then(tx)
			})
			if !errors.Is(err, db.ErrUnique) || called {
				t.Errorf("before %s: %v, and what follows a commit was called: %t", name, err, called)
			}
			if n := number(t, d, `SELECT count(*) FROM counters WHERE name LIKE 'later%'`); n != 2 {
				t.Errorf("before %s: %d rows are left", name, n)
			}
		}
	})
}

// A read of one statement takes no second one.
func TestReadOfOneStatement(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openAt(t, dbtest.Empty(t, engine))
		mustWrite(t, d, stmt(`INSERT INTO counters (name, n) VALUES ('one', 7)`))
		query := func(tx *db.Tx) (n int64, err error) {
			err = tx.QueryRow(`SELECT n FROM counters WHERE name = 'one'`).Scan(&n)
			return n, err
		}
		var n int64
		if err := d.ReadOne(t.Context(), func(tx *db.Tx) (err error) {
			n, err = query(tx)
			return err
		}); n != 7 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if err := d.ReadOne(t.Context(), func(tx *db.Tx) error {
			_, first := query(tx)
			_, second := query(tx)
			return errors.Join(first, second)
		}); err == nil {
			t.Error("a second statement ran")
		}
		if err := d.ReadOne(t.Context(), func(*db.Tx) error { return nil }); err != nil {
			t.Errorf("no statement: %v", err)
		}
	})
}

package dbtest

import (
	"context"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// Statement returns a function for a Write that executes one statement.
func Statement(query string, args ...any) func(*db.Tx) error {
	return func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}
}

// MustWrite calls fn in a Write, which must succeed.
func MustWrite(t testing.TB, d *db.DB, fn func(*db.Tx) error) {
	t.Helper()
	testkit.NoError(t, d.Write(context.Background(), fn))
}

// Exec executes one statement in a Write, which must succeed.
func Exec(t testing.TB, d *db.DB, query string, args ...any) {
	t.Helper()
	MustWrite(t, d, Statement(query, args...))
}

// Number reads the one integer that a query returns.
func Number(t testing.TB, d *db.DB, query string, args ...any) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) error { return tx.QueryRow(query, args...).Scan(&n) })
	testkit.NoError(t, err)
	return n
}

// Column reads the one column that a query returns.
func Column[T any](t testing.TB, d *db.DB, query string, args ...any) (list []T) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		list, err = db.QueryColumn[T](tx, query, args...)
		return err
	})
	testkit.NoError(t, err)
	return list
}

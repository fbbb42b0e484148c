package fulltext_test

import (
	"context"
	"testing"

	"arbor/internal/db"
)

func stmt(query string, args ...any) func(*db.Tx) error {
	return func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}
}

func mustWrite(t testing.TB, d *db.DB, fn func(*db.Tx) error) {
	t.Helper()
	if err := d.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// number reads one integer.
func number(t testing.TB, d *db.DB, query string, args ...any) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) error { return tx.QueryRow(query, args...).Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

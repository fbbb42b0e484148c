package db_test

import (
	"context"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

type recallKey string

// What a request keeps it finds in a later transaction, until anybody commits; another request does not find
// it, nor does a Write.
func TestRecall(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		ctx := db.WithRecall(d.Remember(t.Context()))
		found := func(ctx context.Context) (n int, ok bool) {
			t.Helper()
			if err := d.Read(ctx, func(tx *db.Tx) error {
				n, ok = db.Recall[int](tx, recallKey("a"))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return n, ok
		}
		keep := func(n int) {
			t.Helper()
			if err := d.Read(ctx, func(tx *db.Tx) error {
				db.Keep(tx, recallKey("a"), n)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := found(ctx); ok {
			t.Error("there is something before anything was kept")
		}
		keep(7)
		if n, ok := found(ctx); !ok || n != 7 {
			t.Errorf("recalled %d, %t", n, ok)
		}
		if _, ok := found(db.WithRecall(t.Context())); ok {
			t.Error("another request recalls it")
		}
		if _, ok := found(t.Context()); ok {
			t.Error("a request that does not recall finds it")
		}
		err := d.Write(ctx, func(tx *db.Tx) error {
			if _, ok := db.Recall[int](tx, recallKey("a")); ok {
				t.Error("a write recalls it")
			}
			return tx.Bump("topic")
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := found(ctx); ok {
			t.Error("it is recalled after a commit")
		}
	})
}

package db_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"arbor/internal/db"
)

// A write of one statement must be as durable, as visible and as well told as
// any other, whether its caller comes alone or in a crowd.
func TestWriteOne(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		put := func(name string) (int64, error) {
			return d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`,
				name)
		}
		if n, err := put("first"); n != 1 || err != nil {
			t.Fatalf("%d rows, %v", n, err)
		}
		if n, err := put("first"); n != 0 || err != nil {
			t.Errorf("again: %d rows, %v", n, err)
		}
		if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`, "first"); !errors.Is(err,
			db.ErrUnique) {
			t.Errorf("a clash is %v", err)
		}
		if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`, "a\x00b"); !errors.Is(err,
			db.ErrText) {
			t.Errorf("a text with NUL is %v", err)
		}
		var crowd sync.WaitGroup
		for n := range 8 {
			crowd.Go(func() {
				for k := range 20 {
					if _, err := put(fmt.Sprint(n, " ", k)); err != nil {
						t.Error(err)
					}
				}
			})
			crowd.Go(func() { // who fails takes nobody along
				for range 10 {
					if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1), ($2)`,
						"half", "first"); !errors.Is(err, db.ErrUnique) {
						t.Errorf("in the crowd a clash is %v", err)
					}
					if _, err := d.WriteOne(ctx, `INSERT INTO children (parent_id) VALUES ($1)`,
						-1); !errors.Is(err, db.ErrForeignKey) {
						t.Errorf("in the crowd a child without a parent is %v", err)
					}
					if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`,
						"a\x00b"); !errors.Is(err, db.ErrText) {
						t.Errorf("in the crowd a text with NUL is %v", err)
					}
					if _, err := d.WriteOne(ctx, `INSERT INTO nowhere (name) VALUES ($1)`, "x"); err == nil {
						t.Error("in the crowd a table that is not there took a row")
					}
				}
			})
			crowd.Go(func() {
				for k := range 5 {
					if err := d.Write(ctx, stmt(`INSERT INTO parents (name) VALUES ($1)`,
						fmt.Sprint("w", n, " ", k))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		crowd.Wait()
		if rows := number(t, d, `SELECT count(*) FROM parents`); rows != 1+8*25 {
			t.Errorf("%d rows", rows)
		}
	})
}

// Cancelling at random moments must never lie about the outcome, also where
// somebody else runs the statement.
func TestWriteOneUnderCancellation(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		acknowledgements(t, d, "parents", func(ctx context.Context, name string) error {
			_, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`, name)
			return err
		})
	})
}

// What single statements change counts for those who keep numbers at once.
func TestWriteOneAndGenerations(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 50 {
					if _, err := d.WriteOne(t.Context(), `INSERT INTO parents (name) VALUES ($1)`,
						fmt.Sprint(w, " ", i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range 50 {
			mustWrite(t, d, func(tx *db.Tx) error { return tx.Bump("topic") })
			if n, err := d.Generation(t.Context(), "topic"); n != int64(i+1) || err != nil {
				t.Errorf("after %d bumps the number is %d, %v", i+1, n, err)
			}
		}
		wg.Wait()
	})
}

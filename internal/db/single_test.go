package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/db/dbtest"
)

// A write of one statement must be as durable, as visible and as well told as
// any other, whether its caller comes alone or in a crowd.
func TestWriteOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := openTest(t, engine)
		ctx := t.Context()
		put := func(name string) (int64, error) {
			return d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`, name)
		}
		if n, err := put("first"); n != 1 || err != nil {
			t.Fatalf("%d rows, %v", n, err)
		}
		if n, err := put("first"); n != 0 || err != nil {
			t.Errorf("again: %d rows, %v", n, err)
		}
		if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`, "first"); !errors.Is(err, db.ErrUnique) {
			t.Errorf("a clash is %v", err)
		}
		if _, err := d.WriteOne(ctx, `INSERT INTO parents (name) VALUES ($1)`, "a\x00b"); !errors.Is(err, db.ErrText) {
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
			crowd.Go(func() {
				for k := range 5 {
					err := d.Write(ctx, func(tx *db.Tx) error {
						_, err := tx.Exec(`INSERT INTO parents (name) VALUES ($1)`, fmt.Sprint("w", n, " ", k))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		crowd.Wait()
		var rows int64
		err := d.Read(ctx, func(tx *db.Tx) error { return tx.QueryRow(`SELECT count(*) FROM parents`).Scan(&rows) })
		if err != nil || rows != 1+8*25 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
}

package db_test

import (
	"errors"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Rows that are inserted under their NextID, and rows whose id the database gives, never meet: also after the
// last row was deleted, and beside a transaction that failed.
func TestNextID(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := openAt(t, dbtest.Empty(t, engine))
		var last int64
		grow := func(id int64) {
			t.Helper()
			if id <= last {
				t.Errorf("id %d after %d", id, last)
			}
			last = id
		}
		named := func(tx *db.Tx, name string) (id int64, err error) {
			if id, err = tx.NextID("parents"); err == nil {
				err = tx.Run(`INSERT INTO parents (id, name) VALUES ($1, $2)`, id, name)
			}
			return id, err
		}
		undo := errors.New("undo")
		for _, end := range []error{nil, undo, nil} {
			var ids []int64
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				var given, child int64
				a, err := named(tx, "a")
				if err == nil {
					err = tx.QueryRow(`INSERT INTO parents (name) VALUES ('b') RETURNING id`).Scan(&given)
				}
				if err != nil {
					return err
				}
				c, err := named(tx, "c")
				if err == nil { // the row is there for those that follow
					err = tx.QueryRow(`INSERT INTO children (parent_id) VALUES ($1) RETURNING id`,
						c).Scan(&child)
				}
				if err != nil {
					return err
				}
				ids = []int64{a, given, c}
				return end
			})
			if err != end {
				t.Fatal(err)
			}
			if end != nil {
				continue
			}
			for _, id := range ids {
				grow(id)
			}
			for _, statement := range []string{`DELETE FROM children`, `DELETE FROM parents`} {
				mustWrite(t, d, func(tx *db.Tx) error { return tx.Run(statement) })
			}
		}
	})
}

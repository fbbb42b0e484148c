package db_test

import (
	"errors"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// What is called before the commit reads all that the function wrote, and can undo it. RunThen calls only
// where rows were changed.
func TestBeforeCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		count := func(tx *db.Tx) (n int64) {
			t.Helper()
			if err := tx.QueryRow(`SELECT COUNT(*) FROM generations WHERE topic LIKE 'before%'`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		const add = `INSERT INTO generations (topic, value) SELECT $1, 1 WHERE CAST($2 AS BIGINT) = 1`
		var seen []int64
		write := func(rows int64, end error) error {
			seen = nil
			return d.Write(t.Context(), func(tx *db.Tx) error {
				seen = nil
				tx.Attach("key", rows)
				err := tx.RunThen("bell", add, func(tx *db.Tx) error {
					if got := tx.Attached("key"); got != rows {
						t.Errorf("attached is %v, want %d", got, rows)
					}
					seen = append(seen, count(tx))
					return end
				}, "before", rows)
				if err == nil {
					err = tx.Run(add, "before, and more", int64(1))
				}
				return err
			})
		}
		if err := write(0, nil); err != nil || seen != nil {
			t.Errorf("no row was changed: %v, called with %v", err, seen)
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`DELETE FROM generations WHERE topic LIKE 'before%'`)
		}); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		if err := write(1, broken); !errors.Is(err, broken) {
			t.Errorf("error %v, want that of what is called", err)
		}
		bell := d.Bell("bell")
		if err := write(1, nil); err != nil || !slices.Equal(seen, []int64{2}) {
			t.Errorf("error %v, called with %v", err, seen)
		}
		select {
		case <-bell:
		default:
			t.Error("no bell was rung")
		}
	})
}

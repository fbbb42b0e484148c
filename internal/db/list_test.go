package db_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Lists have the rows in their order and are nil without rows. An error of what reads a row ends the reading,
// after which the transaction goes on.
func TestQueryList(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		bad := errors.New("bad")
		scan := func(row db.Scanner) (n int64, err error) {
			if err = row.Scan(&n); n == 3 {
				err = bad
			}
			return n, err
		}
		const numbers = `SELECT CAST(x.n AS BIGINT) FROM (SELECT 1 AS n UNION ALL SELECT 2
			UNION ALL SELECT 3) x
			WHERE x.n < $1 ORDER BY x.n`
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			if list, err := db.QueryList(tx, scan, numbers, 9); list != nil || err != bad {
				t.Errorf("after an error: %v, %v", list, err)
			}
			if list, err := db.QueryList(tx, scan, numbers, 3); err != nil ||
				!slices.Equal(list, []int64{1, 2}) {
				t.Errorf("two rows: %v, %v", list, err)
			}
			if list, err := db.QueryList(tx, scan, numbers, 1); err != nil || list != nil {
				t.Errorf("no rows: %v, %v", list, err)
			}
			calls := 0
			err := db.QueryEach(tx, func(db.Scanner) error { calls++; return bad }, numbers, 9)
			if err != bad || calls != 1 {
				t.Errorf("each: %d calls, %v", calls, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// What is kept is not asked for again, nor that a key has no value.
func TestRecallMany(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		ctx := db.WithRecall(d.Remember(t.Context()))
		var asked []string
		read := func(keys ...string) (values map[string]int) {
			t.Helper()
			err := d.Read(ctx, func(tx *db.Tx) (err error) {
				asked = nil
				values, err = db.RecallMany(tx, keys, func(k string) any { return recallKey(k) },
					func(keys []string) (map[string]int, error) {
						asked = keys
						found := map[string]int{"a": 1, "b": 2}
						maps.DeleteFunc(found, func(k string, _ int) bool {
							return !slices.Contains(keys, k)
						})
						return found, nil
					})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return values
		}
		if got := read("a", "none"); !maps.Equal(got, map[string]int{"a": 1}) || len(asked) != 2 {
			t.Errorf("first: %v, asked for %q", got, asked)
		}
		if got := read("a", "b", "none"); !maps.Equal(got, map[string]int{"a": 1, "b": 2}) ||
			!slices.Equal(asked, []string{"b"}) {
			t.Errorf("then: %v, asked for %q", got, asked)
		}
		if got := read("a", "b"); len(got) != 2 || asked != nil {
			t.Errorf("at last: %v, asked for %q", got, asked)
		}
	})
}

package db_test

import (
	"errors"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
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
		testkit.NoError(t, err)
	})
}

package db_test

import (
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// SQLite parses a statement once, also when the first account and another one take turns to run it. If this
// failed, parsing would be most of what a short request costs.
func TestArgumentsDoNotParseAnew(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	var query strings.Builder // takes far longer to parse and to plan than to run
	query.WriteString(`SELECT o.id FROM accounts o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = $1`)
	for range 12 {
		query.WriteString(` AND NOT EXISTS (SELECT 1 FROM repos f JOIN accounts fo ON fo.id = f.owner_id
			LEFT JOIN members fm ON fm.org_id = f.owner_id AND fm.user_id = $1
			LEFT JOIN collaborators fc ON fc.repo_id = f.id AND fc.user_id = $1 WHERE f.root_id = o.id)`)
	}
	query.WriteString(` WHERE o.id = $2`)
	took := func(callers ...int64) time.Duration {
		start := time.Now()
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			for range 100 {
				for _, caller := range callers {
					rows, err := tx.Query(query.String(), caller, int64(5))
					if err != nil {
						return err
					}
					for rows.Next() {
						t.Error("there is no account")
					}
					if err := rows.Err(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		testkit.NoError(t, err)
		return time.Since(start)
	}
	took(7, 7)
	for try := 0; ; try++ {
		one, turns := took(7, 7), took(1, 7)
		if turns < 4*one {
			return
		}
		if try == 5 {
			t.Fatalf("200 runs for one caller take %v, and %v for two who take turns", one, turns)
		}
	}
}

package db_test

import (
	"context"
	"slices"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Who looks for what makes a page slow must be told of each statement, once.
func TestTrace(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		var told []string
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Trace: func(_ context.Context, query string) {
				told = append(told, query)
			}})
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`INSERT INTO generations (topic, value) VALUES ($1, 7)`,
				"trace"); err != nil {
				return err
			}
			var n int64
			return tx.QueryRow(`SELECT value FROM generations WHERE topic = $1`, "trace").Scan(&n)
		})
		testkit.NoError(t, err)
		read := func(tx *db.Tx) error {
			var n int64
			return tx.QueryRow(`SELECT value FROM generations WHERE topic = 'trace'`).Scan(&n)
		}
		testkit.NoError(t, d.Read(t.Context(), read))
		testkit.NoError(t, d.ReadLong(t.Context(), read))
		want := []string{`INSERT INTO generations (topic, value) VALUES ($1, 7)`,
			`SELECT value FROM generations WHERE topic = $1`,
			`SELECT value FROM generations WHERE topic = 'trace'`,
			`SELECT value FROM generations WHERE topic = 'trace'`}
		if !slices.Equal(told, want) {
			t.Errorf("told of %q", told)
		}
	})
}

package apitest

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/server"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Depot returns options of servers that keep repositories and files in one folder as a depot, and work on one database:
// nodes without a shared disk.
func Depot(t testing.TB, url, dir string) Option {
	t.Helper()
	on := On(t, url)
	return func(o *server.Options) {
		on(o)
		address, err := depot.Canonical("file://" + dir)
		testkit.NoError(t, err)
		o.Objects = address
	}
}

// On returns an option of servers that work on the database at an address, which has the id of a store.
func On(t testing.TB, url string) Option {
	t.Helper()
	return func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: url})
		testkit.NoError(t, o.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`INSERT INTO store_identity (id, store, folder) VALUES (1, 'test', '')
				ON CONFLICT DO NOTHING`)
		}))
	}
}

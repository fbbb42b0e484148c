package db_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
)

// An address of PostgreSQL in another form than a URL would be the name of a SQLite file that holds the
// password.
func TestAddressesThatAreNoFiles(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"postgres://arbor:secret@db/arbor":            true,
		"postgresql:///arbor?host=/run":               true,
		"/srv/arbor.db":                               true,
		"arbor.db":                                    true,
		"host.db":                                     true,
		"/srv/user=1/arbor.db":                        true,
		"":                                            true,
		"host=db user=arbor password=secret":          false,
		" password = secret":                          false,
		"postgres:arbor:secret@db/arbor":              false,
		"mysql://arbor:secret@db/arbor":               false,
		"service=secret":                              false,
		"dbname=secret host=/run/postgresql port=1":   false,
		"postgresql:/arbor:secret@db/arbor?host=/run": false,
	} {
		err := db.CheckURL(address)
		if (err == nil) != good || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

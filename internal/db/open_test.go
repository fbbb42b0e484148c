package db_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// unreachable opens a database that is not there, and returns the error, which
// must say so and keep the password to itself.
func unreachable(t *testing.T, address *url.URL) string {
	t.Helper()
	const password = "rosebud"
	address.User = url.UserPassword(address.User.Username(), password)
	d, err := db.Open(context.Background(), db.Options{URL: address.String()})
	if err == nil {
		d.Close()
		t.Fatal("it opened")
	}
	text := err.Error()
	if !strings.Contains(text, "the database cannot be reached") || strings.Contains(text, "overloaded") {
		t.Errorf("the operator reads %q", text)
	}
	if strings.Contains(text, password) {
		t.Errorf("the password is in %q", text)
	}
	return text
}

// An operator whose PostgreSQL is down, or elsewhere, must read that, and not
// look for a load that is not there.
func TestServerCannotBeReached(t *testing.T) {
	t.Parallel()
	const host = "127.0.0.1:1" // nobody listens there
	text := unreachable(t, &url.URL{Scheme: "postgres", User: url.User("arbor"), Host: host, Path: "/arbor"})
	if !strings.Contains(text, host) {
		t.Errorf("%q does not say where it looked: %s", text, host)
	}
}

// So must one who named a database that the server does not have.
func TestDatabaseIsNotThere(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(dbtest.Empty(t, db.PostgreSQL))
	testkit.NoError(t, err)
	address.Path = "/nothing_of_this_name"
	if text := unreachable(t, address); !strings.Contains(text, "nothing_of_this_name") {
		t.Errorf("%q does not name the database", text)
	}
}

// Opening a database writes nothing: on a full disk the commands that make room would not work, nor a server
// start.
func TestOpeningWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arbor.db")
	open := func() {
		t.Helper()
		d, err := db.Open(t.Context(), db.Options{URL: path})
		if err == nil {
			err = d.Close()
		}
		testkit.NoError(t, err)
	}
	open()
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	testkit.NoError(t, os.Chtimes(path, before, before))
	open()
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(before) {
		t.Errorf("the file was written at %v: %v", info.ModTime(), err)
	}
}

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

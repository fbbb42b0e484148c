package db_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

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

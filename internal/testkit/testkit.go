// Package testkit has what tests of several packages need and no server has a part in: keys, certificates,
// files that the program writes about itself. Package apitest, which has a server, holds its answers against
// the schemas of the description, and these take each process some milliseconds to read: the tests of the
// command start a thousand.
package testkit

import (
	"os"
	"testing"
)

// Programs skips a test that runs programs of others, which are installed for it or
// take long: `make programs` and .ci/run set ARBOR_TEST_PROGRAMS=1.
func Programs(t testing.TB) {
	t.Helper()
	if os.Getenv("ARBOR_TEST_PROGRAMS") != "1" {
		t.Skip("NOT TESTED: with programs of others. Run them with `make programs`.")
	}
}

// IsState reports the question for a generation, which on SQLite is answered from memory.
func IsState(query string) bool { return query == "SELECT value FROM generations WHERE topic = $1" }

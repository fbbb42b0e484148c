// Package testkit has what tests of several packages need and no server has a part in: keys, certificates,
// files that the program writes about itself. Package apitest, which has a server, holds its answers against
// the schemas of the description, and these take each process some milliseconds to read: the tests of the
// command start a thousand.
package testkit

import "testing"

// NoError ends the test if there is an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// IsState reports the question for a generation, which on SQLite is answered from memory.
func IsState(query string) bool { return query == "SELECT value FROM generations WHERE topic = $1" }

// Package arbortest starts a code-hosting server inside a Go test, in one line,
// with everything in it that the test needs:
//
//	func TestBot(t *testing.T) {
//		t.Parallel()
//		s := arbortest.Start(t, arbortest.Seed("testdata/seed.yaml"))
//		runBot(s.URL, s.Token("alice"))
//	}
//
// It is the real server, in the process of the test, on a port of its own; it
// needs git on the machine and nothing else. Clients of GitHub's REST API find
// the API at URL and, as at GitHub Enterprise, at URL/api/v3; git clones from
// CloneURL. Tests in parallel start a server each. Tests in a row may share one
// and call Reset in between, which takes a few milliseconds and keeps the
// address and the tokens.
//
// What the seed says is the same in each run: ids, times, and the SHAs of
// commits. docs/seed.md tells what it can say.
package arbortest

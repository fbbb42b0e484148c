package arbortest_test

import (
	"net/http"
	"testing"

	"arbor/arbortest"
)

// The beginning of a test of a program that talks to a code-hosting server.
func ExampleStart() {
	var t *testing.T // of func TestBot(t *testing.T)

	s := arbortest.Start(t, arbortest.YAML(`
users:
  - {login: alice, tokens: [arb_alice]}
repos:
  - name: alice/garden
    files: {README.md: "# garden\n"}
    issues: [{title: Slugs eat the peas, labels: [bug]}]
`))
	answer, err := s.Client("alice").Get(s.URL + "/repos/alice/garden/issues/1")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()

	s.Reset(t) // all is as it was, for whatever comes next
}

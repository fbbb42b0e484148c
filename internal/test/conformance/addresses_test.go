//go:build long

package conformance

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

var updateAddresses = flag.Bool("update-addresses", false, "write the list of GitHub's addresses anew")

// Which addresses are GitHub's, package server knows from a list: it must be that of GitHub's description,
// or an address that is not here would be taken for the name of a branch.
func TestPayloadsAddresses(t *testing.T) {
	const list = "../../server/github.txt"
	described := map[string]bool{}
	for _, op := range github(t).operations {
		described[op.Path] = true
	}
	want := strings.Join(slices.Sorted(maps.Keys(described)), "\n") + "\n"
	if *updateAddresses {
		testkit.NoError(t, os.WriteFile(list, []byte(want), 0o644))
	}
	got, err := os.ReadFile(list)
	testkit.NoError(t, err)
	if string(got) != want {
		t.Error("internal/server/github.txt is not what GitHub describes: run `make addresses`")
	}
}

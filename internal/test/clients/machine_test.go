//go:build long

package clients

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/tool"
)

// need skips a test of a client, or fails it when ARBOR_TEST_STRICT=1, unless
// the machine has the programs, which are in the named packages of Debian.
func need(t *testing.T, client, packages string, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			lacking(t, client, "there is no "+program+
				" on this machine. Get it with `apt-get install "+packages+"`")
		}
	}
}

// lacking skips a test, or fails it when ARBOR_TEST_STRICT=1.
func lacking(t *testing.T, client, why string) {
	t.Helper()
	tool.Lacking(t, client, why)
}

// environment is the machine's, without what would lead a client elsewhere.
func environment(more ...string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(entry), "=")
		return strings.HasSuffix(name, "_PROXY") || strings.HasPrefix(name, "NODE_") ||
			strings.HasPrefix(name, "GH_") || strings.HasPrefix(name, "GITHUB_")
	})
	return append(kept, more...)
}

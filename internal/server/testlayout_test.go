package server_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

// few lists the packages whose tests may be of both kinds: few packages import them, or (issue) much would
// have to move.
var few = []string{"activity", "attachment", "backup", "ephemeral", "forge", "fsck", "graphql", "issue",
	"issue/timeline", "packs", "page/code", "repo/maintenance", "repo/transport", "search", "seed", "server", "ssh"}

// If tests belong to a package (package account), Go recompiles it for them, and everything that imports it if
// other tests import a whole server: for a package in a low tier that is almost everything. So such tests
// are below internal/test.
func TestServersAreAskedFromFoldersOfTheirOwn(t *testing.T) {
	list := `{{.ImportPath}} {{len .TestGoFiles}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`
	out, err := exec.Command("go", "list", "-f", list, "arbor/internal/...").Output()
	testkit.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], "arbor/")
		if isHelper(fields[0]) || slices.Contains(few, strings.TrimPrefix(name, "internal/")) {
			continue
		}
		server := slices.Contains(fields[2:], "arbor/internal/test/apitest") ||
			slices.Contains(fields[2:], "arbor/internal/server")
		if fields[1] != "0" && server {
			t.Errorf("%s has tests inside the package and tests with a whole server: move these below internal/test", name)
		}
	}
}

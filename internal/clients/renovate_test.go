package clients

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/apitest/npm"
	"arbor/internal/db"
)

// renovate signs in, finds out who it is and begins with a repository. It gets no further than its first
// GraphQL query, which says that the address is not there: whoever adds GraphQL lets it go on here.
func TestRenovate(t *testing.T) {
	apitest.Programs(t)
	t.Parallel()
	need(t, "renovate", "nodejs npm git", "node", "npm", "git")
	packages := npm.Install(t, filepath.Join("testdata", "renovate"))
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Check(t, apitest.Case{Do: "PATCH /user", As: "alice", Send: `{"name": "Alice", "email": "alice@example.org"}`, Status: 200})
	s.Repo(t, "alice/garden", false)
	program := filepath.Join(packages, "node_modules", "renovate", "dist", "renovate.js")
	node := exec.CommandContext(t.Context(), "node", program, "alice/garden")
	node.Dir = t.TempDir()
	node.Env = environment("LOG_LEVEL=debug", "LOG_FORMAT=json", "RENOVATE_BASE_DIR="+node.Dir, "RENOVATE_PLATFORM=github",
		"RENOVATE_ENDPOINT="+s.URL+"/api/v3/", "RENOVATE_TOKEN="+s.Token(t, "alice"), "HOME="+node.Dir)
	out, err := node.Output()
	if err == nil {
		t.Error("renovate ends well: it goes on without GraphQL, or there is GraphQL now")
	}
	var said []string
	for line := range bytes.Lines(out) {
		var entry struct{ Msg string }
		if json.Unmarshal(line, &entry) == nil {
			said = append(said, entry.Msg)
		}
	}
	for _, want := range []string{"Using platform gitAuthor: Alice <alice@example.org>", "Repository started", "Unexpected GraphQL Error"} {
		if !slices.Contains(said, want) {
			t.Errorf("renovate does not say %q\n%s", want, out)
		}
	}
}

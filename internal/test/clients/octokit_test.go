//go:build long

package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// Programs in JavaScript do with octokit all that the API can, and come upon
// nothing that is not as at GitHub. What they do and expect stands in
// testdata/octokit.
func TestOctokit(t *testing.T) {
	t.Parallel()
	dir := octokit(t)
	for name, prefix := range map[string]string{"enterprise": "/api/v3", "root": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, engine db.Engine) {
				c := client{anyPort, map[string]story{
					"octokit": func(t *testing.T, s *apitest.Server) { runOctokit(t, s, dir, prefix) },
				}, func(t *testing.T, s *apitest.Server, requests []*fixture.Request) {
					askOctokit(t, s, dir, prefix, requests)
				}}
				c.run(t, engine)
			})
		})
	}
}

// Everyone's npm has a registry of its own, so the lock file says what to install
// and not from where.
func TestOctokitLock(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(stories, "package-lock.json"))
	testkit.NoError(t, err)
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	testkit.NoError(t, json.Unmarshal(data, &lock))
	if _, ok := lock.Packages["node_modules/@octokit/rest"]; !ok {
		t.Error("octokit itself is not among the packages")
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" || name != "" && (p.Version == "" || p.Integrity == "") {
			t.Errorf("%s is not named by version and digest alone: %+v", name, p)
		}
	}
}

// runOctokit runs all stories of testdata/octokit, which also see to it that
// every method of the client is called whose operation the server has.
func runOctokit(t *testing.T, s *apitest.Server, dir, prefix string) {
	againstGitHubs(t, s)
	tokens := map[string]string{}
	for _, login := range []string{"alice", "will", "sam", "rose", "robin"} {
		s.User(t, login)
		tokens[login] = s.Token(t, login)
	}
	s.Org(t, "garden", "alice")
	s.Org(t, "orchard", "rose")
	runNode(t, dir, "main.mjs", map[string]any{"baseUrl": s.URL + prefix, "tokens": tokens,
		"operations": operations(s.Server.Routes())})
}

// askOctokit sends each request by the client's methods.
func askOctokit(t *testing.T, s *apitest.Server, dir, prefix string, requests []*fixture.Request) {
	type request struct {
		Operation string          `json:"operation"`
		Values    []string        `json:"values"` // of its placeholders
		Token     string          `json:"token"`
		Basic     string          `json:"basic,omitempty"` // the Authorization of an OAuth App, which has no token
		Body      json.RawMessage `json:"body,omitempty"`
	}
	var list []request
	for _, q := range requests {
		list = append(list, request{operation(q.Route), q.Values, s.Token(t, q.Who), q.Headers["Authorization"],
			json.RawMessage(q.Send)})
	}
	runNode(t, dir, "others.mjs", map[string]any{"baseUrl": s.URL + prefix, "requests": list})
}

// runNode runs a program of testdata/octokit with its input as JSON.
func runNode(t *testing.T, dir, program string, with map[string]any) {
	t.Helper()
	input, err := json.Marshal(with)
	testkit.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", program)
	node.Dir, node.Stdin, node.Env = dir, bytes.NewReader(input), environment()
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// octokit is a directory with the stories and what they import.
func octokit(t *testing.T) string {
	t.Helper()
	need(t, "octokit", "nodejs npm", "node", "npm")
	dir := t.TempDir()
	testkit.NoError(t, os.CopyFS(dir, os.DirFS(stories)))
	testkit.NoError(t, os.Symlink(filepath.Join(npm.Install(t, stories), "node_modules"),
		filepath.Join(dir, "node_modules")))
	return dir
}

var stories = filepath.Join("testdata", "octokit")

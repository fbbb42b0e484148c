package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
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
				tell(t, engine, anyPort, map[string]story{
					"octokit": func(t *testing.T, s *apitest.Server) { runOctokit(t, s, dir, prefix) },
				})
			})
		})
	}
}

// Everyone's npm has a registry of its own, so the lock file says what to install
// and not from where.
func TestOctokitLock(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(stories, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
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
	tokens := map[string]string{}
	for _, login := range []string{"alice", "will", "sam", "rose", "robin"} {
		s.User(t, login)
		tokens[login] = s.Token(t, login)
	}
	s.Org(t, "garden", "alice")
	s.Org(t, "orchard", "rose")
	input, err := json.Marshal(map[string]any{"baseUrl": s.URL + prefix, "tokens": tokens, "operations": operations(s.Server.Routes())})
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "main.mjs")
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
	if err := os.CopyFS(dir, os.DirFS(stories)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nodeModules(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

var stories = filepath.Join("testdata", "octokit")

// nodeModules is where npm installed what the lock file says: in a directory of
// the user's cache that is named after the file, and so is made but once.
func nodeModules(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(stories, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cacheDir(t), "octokit-"+hex.EncodeToString(sum[:8]))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	install(t, dir)
	return modules
}

// cacheDir is a directory that outlives the test where the user has one.
func cacheDir(t *testing.T) string {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "arbor-test")
		if err := os.MkdirAll(dir, 0o700); err == nil {
			return dir
		}
	}
	return t.TempDir()
}

// install fills a directory beside the one that is wanted and renames it, so
// that nobody ever sees half of it: of several processes that install one wins.
func install(t *testing.T, dir string) {
	t.Helper()
	work, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(stories, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir = work
	if out, err := npm.CombinedOutput(); err != nil {
		if unreachable.Match(out) {
			lacking(t, "octokit", "npm cannot reach its registry. What it once brought is kept, so one run with a network does")
		}
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(work, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, "node_modules")); there != nil {
			t.Fatal(err)
		}
	}
}

// unreachable is what npm says without a network.
var unreachable = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED)\b`)

//go:build long

package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/testkit"
)

// GoTree returns a packed bare repository whose branch main is one commit of the
// Go distribution (about 15,000 files, 270 MB), with the SHA of its tree. It
// is made once per machine, in the user's cache folder; tests must not change it.
// Tests that use it are long, since making it takes half a minute.
func GoTree(tb testing.TB) (dir string, tree git.SHA) {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir = filepath.Join(cache, "arbor-tests", "gotree-"+runtime.Version()+".git")
	if _, err := os.Stat(dir); err != nil {
		makeGoTree(tb, dir)
	}
	return dir, git.SHA(Run(tb, dir, "rev-parse", "refs/heads/main^{tree}"))
}

// makeGoTree builds aside and renames, as several test processes may do so.
func makeGoTree(tb testing.TB, dir string) {
	tb.Helper()
	testkit.NoError(tb, os.MkdirAll(filepath.Dir(dir), 0o700))
	aside, err := os.MkdirTemp(filepath.Dir(dir), "gotree-")
	testkit.NoError(tb, err)
	defer os.RemoveAll(aside)
	root := goRoot(tb)
	Run(tb, aside, "init", "-q", "--bare", aside)
	Run(tb, root, "--git-dir="+aside, "--work-tree="+root, "-c", "core.bigFileThreshold=16m",
		"add", "-f", ".")
	tree := Run(tb, aside, "write-tree")
	commit := Run(tb, aside, "commit-tree", "-m", "The Go distribution", tree)
	Run(tb, aside, "update-ref", "refs/heads/main", commit)
	Run(tb, aside, "repack", "-q", "-a", "-d", "--window=0")
	testkit.NoError(tb, os.Remove(filepath.Join(aside, "index")))
	if err := os.Rename(aside, dir); err != nil && !strings.Contains(err.Error(), "exist") {
		tb.Fatal(err)
	}
}

// goRoot finds the Go distribution of the go command.
func goRoot(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skip("no go command, no Go distribution: ", err)
	}
	root, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	testkit.NoError(tb, err)
	return root
}

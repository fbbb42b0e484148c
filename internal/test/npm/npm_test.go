package npm

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// Several packages' tests install at one moment, each in a process of its own:
// all must get the same, whole folder.
func TestManyInstallAtOnce(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		skip(t, err.Error())
	}
	dir, cache := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "package.json"), `{"name": "nothing", "private": true}`)
	write(t, filepath.Join(dir, "package-lock.json"),
		`{"name": "nothing", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "nothing"}}}`)
	name, err := wanted(dir, nil)
	testkit.NoError(t, err)
	write(t, filepath.Join(cache, name+".part", "half"), "left by who was killed")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			folder, err := install(t.Context(), cache, dir, nil)
			if err != nil || folder != filepath.Join(cache, name) {
				t.Errorf("installed in %s: %v", folder, err)
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) != 2 { // the folder and its lock
		t.Errorf("in the cache: %q", left)
	}
	if _, err := os.Stat(filepath.Join(cache, name, "half")); err == nil {
		t.Error("half an installation was taken for a whole one")
	}
}

// What is kept of a large package must be all that was asked for, and its
// absence no surprise for a later test.
func TestPrune(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"@a/b/one.json", "@a/b/two.json", "@a/b/lib/x/y.js", "c/index.js"} {
		write(t, filepath.Join(root, name), name)
	}
	if err := prune(root, []string{"@a/b/three.json"}); err == nil {
		t.Error("what is not there was kept")
	}
	testkit.NoError(t, prune(root, []string{"@a/b/one.json", "@a/b/lib"}))
	for name, stays := range map[string]bool{"@a/b/one.json": true, "@a/b/two.json": false,
		"@a/b/lib/x/y.js": true, "c/index.js": false} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != stays {
			t.Errorf("%s: kept is %t, want %t", name, err == nil, stays)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testkit.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

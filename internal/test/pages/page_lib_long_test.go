//go:build long

package pages_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// The scripts and icons in the tree are what their sources and the versions in the lock file make.
func TestLibrariesAreBuilt(t *testing.T) {
	t.Parallel()
	const from, to = "../../page/lib/", "../../page/assets/lib/"
	var files []string
	for _, name := range []string{"package.json", "build.js", "editor.js", "math.js", "diagrams.js",
		"none.js", "icons.js"} {
		files = append(files, from+name)
	}
	dir := npm.Workspace(t, npm.Install(t, from), files...)
	for _, script := range []string{"build.js", "icons.js"} {
		cmd := exec.CommandContext(t.Context(), "node", script, "built")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, name := range []string{"editor.js.gz", "math.js.gz", "diagrams.js.gz"} {
		if sumOf(t, to+name) != sumOf(t, filepath.Join(dir, "built", name)) {
			t.Errorf("%s is not what its source makes: run make lib", name)
		}
	}
	icons, err := os.ReadFile("../../page/templates/icons.html")
	testkit.NoError(t, err)
	made, err := os.ReadFile(filepath.Join(dir, "built", "icons.html"))
	testkit.NoError(t, err)
	if !bytes.Equal(icons, made) {
		t.Error("icons.html is not what its source makes: run make lib")
	}
}

// sumOf is the hash of what a file holds compressed.
func sumOf(t *testing.T, path string) (sum [sha256.Size]byte) {
	t.Helper()
	f, err := os.Open(path)
	testkit.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	testkit.NoError(t, err)
	text, err := io.ReadAll(z)
	testkit.NoError(t, err)
	return sha256.Sum256(text)
}

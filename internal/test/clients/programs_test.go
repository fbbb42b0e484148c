//go:build long

package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"

	"arbor/internal/test/testkit"
)

// program is one that Go builds from its module proxy.
type program struct {
	name   string
	module string // PATH@VERSION
	dir    string // of its package, in the module
	sums   string // lines of go.sum for the module, where the checksum database lacks them
}

// build returns the path of the program, built within its module as its authors do. Building some takes
// minutes, so it is kept for the next run in the cache of this user. Where the module or one that it needs
// cannot be had, the test is skipped, or fails when ARBOR_TEST_STRICT=1.
func (p program) build(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	testkit.NoError(t, err)
	_, version, _ := strings.Cut(p.module, "@")
	kept := filepath.Join(cache, "arbor-tests", "go", fmt.Sprintf("%s-%s-%s", p.name, version, runtime.Version()))
	testkit.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	unlock, err := lockedfile.MutexAt(kept + ".lock").Lock()
	testkit.NoError(t, err)
	defer unlock()
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		testkit.NoError(t, err)
		return kept
	}
	work := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(work, "go.mod"), []byte("module programs\n"), 0o600))
	testkit.NoError(t, os.WriteFile(filepath.Join(work, "go.sum"), []byte(p.sums), 0o600))
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", p.module)
	download.Dir, download.Env = work, append(os.Environ(), "GOFLAGS=-mod=mod")
	out, _ := download.Output()
	var found struct{ Dir, Error string }
	if json.Unmarshal(out, &found) != nil || found.Dir == "" {
		lacking(t, p.name, "the Go module proxy does not give "+p.module+": "+found.Error)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-o", kept+".part", p.dir)
	build.Dir, build.Env = found.Dir, append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		lacking(t, p.name, fmt.Sprintf("it does not build: %s", out))
	}
	testkit.NoError(t, os.Rename(kept+".part", kept))
	return kept
}

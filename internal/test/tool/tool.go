// Package tool builds programs that the Go module proxy has, for tests that run them.
package tool

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

// Program is one that Go builds from its module proxy.
type Program struct {
	Name   string
	Module string // PATH@VERSION
	Dir    string // of its package, in the module
	Sums   string // lines of go.sum for the module, where the checksum database lacks them
	Tags   string // of the build
}

// Build returns the path of the program, built within its module as its authors do. Building some takes
// minutes, so it is kept for the next run in the cache of this user. Where the module or one that it needs
// cannot be had, the test is skipped, or fails when ARBOR_TEST_STRICT=1.
func (p Program) Build(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	testkit.NoError(t, err)
	_, version, _ := strings.Cut(p.Module, "@")
	kept := filepath.Join(cache, "arbor-tests", "go", fmt.Sprintf("%s-%s-%s", p.Name, version, runtime.Version()))
	testkit.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	unlock, err := lockedfile.MutexAt(kept + ".lock").Lock()
	testkit.NoError(t, err)
	defer unlock()
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		testkit.NoError(t, err)
		return kept
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-tags="+p.Tags, "-o", kept+".part", p.Dir)
	build.Dir, build.Env = p.Folder(t), append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		Lacking(t, p.Name, fmt.Sprintf("it does not build: %s", out))
	}
	testkit.NoError(t, os.Rename(kept+".part", kept))
	return kept
}

// Folder returns the folder of the module, in which there are files that some programs need. Where it cannot be had, the
// test is skipped as by Build.
func (p Program) Folder(t testing.TB) string {
	t.Helper()
	work := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(work, "go.mod"), []byte("module programs\n"), 0o600))
	testkit.NoError(t, os.WriteFile(filepath.Join(work, "go.sum"), []byte(p.Sums), 0o600))
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", p.Module)
	download.Dir, download.Env = work, append(os.Environ(), "GOFLAGS=-mod=mod")
	out, _ := download.Output()
	var found struct{ Dir, Error string }
	if json.Unmarshal(out, &found) != nil || found.Dir == "" {
		Lacking(t, p.Name, "the Go module proxy does not give "+p.Module+": "+found.Error)
	}
	return found.Dir
}

// Lacking skips a test that needs a program which this machine lacks, or fails it when ARBOR_TEST_STRICT=1.
func Lacking(t testing.TB, program, why string) {
	t.Helper()
	if os.Getenv("ARBOR_TEST_STRICT") == "1" {
		t.Fatal(why)
	}
	t.Skipf("NOT TESTED WITH %s: %s.", strings.ToUpper(program), why)
}

// Package npm installs what tests need from npm: other people's clients of
// GitHub's API, and GitHub's description of it. What is installed is exactly
// what a lock file names, and is kept for the next run.
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// patience is how long an installation may take.
const patience = 4 * time.Minute

// Install returns a folder whose node_modules holds what the package-lock.json
// of dir names, installed without running anything of it. It is in the cache
// of this user, named after what dir asks for; other tests and processes share
// it, so nobody may write into it. With keep, only these paths below
// node_modules are kept, each with all that is in it.
//
// Node looks for packages next to and above a script, so a script that imports
// some is run from a Workspace.
//
// Where npm is missing or cannot reach its registry the test is skipped, or
// fails when ARBOR_TEST_STRICT=1.
func Install(t testing.TB, dir string, keep ...string) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		skip(t, "npm is not on this machine. Get it with `apt-get install nodejs npm`.")
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		cache = filepath.Join(cache, "arbor-tests", "npm")
		err = os.MkdirAll(cache, 0o755)
	}
	if err != nil {
		cache = t.TempDir()
	}
	folder, err := install(t.Context(), cache, dir, keep)
	switch {
	case errors.Is(err, errUnreachable):
		skip(t, err.Error())
	case err != nil:
		t.Fatalf("npm ci of %s: %v", dir, err)
	}
	return folder
}

func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("ARBOR_TEST_STRICT") == "1" {
		t.Fatalf("%s (ARBOR_TEST_STRICT=1)", why)
	}
	t.Skip("NOT TESTED: " + why)
}

var (
	errUnreachable = errors.New("npm cannot reach its registry")
	networkProblem = regexp.MustCompile(
		`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b`)
)

// install creates the folder in cache if it is not there. It is made under
// another name and then renamed, so what has the name is whole.
func install(ctx context.Context, cache, dir string, keep []string) (string, error) {
	name, err := wanted(dir, keep)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, name)
	unlock, err := lockedfile.MutexAt(folder + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return folder, err
	}
	work := folder + ".part" // the remains of who was killed here, if it is there
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := copyInputs(work, dir); err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--loglevel=error", "--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
	cmd.Dir, cmd.WaitDelay = work, time.Second // npm's own processes may hold its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		if networkProblem.Match(out) || ctx.Err() != nil {
			return "", fmt.Errorf("%w: %s", errUnreachable, out)
		}
		return "", fmt.Errorf("%w: %s", err, out)
	}
	if len(keep) > 0 {
		if err := prune(filepath.Join(work, "node_modules"), keep); err != nil {
			return "", err
		}
	}
	return folder, os.Rename(work, folder)
}

// inputs are the files of a folder that say what is to be installed.
var inputs = []string{"package.json", "package-lock.json", ".npmrc"}

// wanted names what is to be installed by a hash of all that says so.
func wanted(dir string, keep []string) (string, error) {
	sum := sha256.New()
	for _, name := range inputs {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && (name != ".npmrc" || !errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
	}
	fmt.Fprintf(sum, "%q", keep)
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

func copyInputs(to, from string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range inputs {
		err := copyFile(filepath.Join(to, name), filepath.Join(from, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// prune removes every file below root that is neither one of keep nor in one.
func prune(root string, keep []string) error {
	for _, name := range keep {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, k := range keep {
			if name = filepath.ToSlash(name); name == k || strings.HasPrefix(name, k+"/") {
				return nil
			}
		}
		return os.Remove(path)
	})
}

// Workspace returns a folder, gone after the test, in which Node finds what
// Install installed, with copies of the named files.
func Workspace(t testing.TB, installed string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules"))
	for _, file := range files {
		if err == nil {
			err = copyFile(filepath.Join(dir, filepath.Base(file)), file)
		}
	}
	testkit.NoError(t, err)
	return dir
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// widely runs a program with a umask that lets everyone read its files.
var widely = []string{"sh", "-c", `umask 022; "$@"; exit $?`, "sh"}

// opened lists a folder and all below it that others than the owner may use.
func opened(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && d.Type()&(fs.ModeSymlink|fs.ModeSocket) == 0 {
			list = append(list, fmt.Sprintf("%v %s", info.Mode(), path))
		}
		return nil
	})
	testkit.NoError(t, err)
	return list
}

// throwOpen lets everyone read all that is below a folder.
func throwOpen(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("chmod", "-R", "a+rX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A data folder that everyone can read, as older programs, backups and operators
// leave it, would let any account of the machine read private repositories. It is
// closed when a server or a command begins, and stays closed while git's processes
// write to it.
func TestDataFolderIsClosed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.wrapper = widely
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		for _, dir := range []string{s.data, elsewhere} {
			testkit.NoError(t, os.Mkdir(dir, 0o755))
		}
		testkit.NoError(t, os.Symlink(elsewhere, filepath.Join(s.data, "repositories")))
		s.start()
		s.user("alice")
		s.arbor("repo", "create", "alice/plot", "--private")
		work := filepath.Join(t.TempDir(), "work")
		fill := func(name string) {
			t.Helper()
			testkit.NoError(t, os.WriteFile(filepath.Join(work, name), []byte(name), 0o600))
			gittest.Run(t, work, "add", "-A")
			gittest.Run(t, work, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", name)
			gittest.Run(t, work, "push", "-q", s.remote("alice", "alice/plot"), "+HEAD:refs/heads/main")
		}
		testkit.NoError(t, os.Mkdir(work, 0o700))
		gittest.Run(t, work, "init", "-q")
		check := func(when string) {
			t.Helper()
			for _, dir := range []string{s.data, elsewhere} {
				if list := opened(t, dir); len(list) > 0 {
					t.Errorf("%s, open to others:\n%s", when, strings.Join(list, "\n"))
				}
			}
		}
		for n := range 3 {
			fill(fmt.Sprint("file", n))
		}
		for n := range 3 {
			body := strings.NewReader(`{"message": "m", "content": "eA==", "branch": "main"}`)
			res, text := s.do("alice", "PUT", fmt.Sprint("/repos/alice/plot/contents/api", n), nil, body)
			if res.StatusCode != http.StatusCreated {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
		}
		res, text := s.do("alice", "POST", "/repos/alice/plot/merges", nil,
			strings.NewReader(`{"base": "main", "head": "main"}`))
		if res.StatusCode >= 300 {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
		check("while it serves")
		s.arbor("repo", "create", "alice/copy", "--import", work)
		check("after an import")
		s.stop()

		throwOpen(t, s.data)
		throwOpen(t, elsewhere)
		s.start()
		check("after a start")
		fill("more")
		check("after another push")
		s.stop()

		throwOpen(t, s.data)
		s.arbor("user", "email", "list", "alice")
		check("after a command")

		// The walk of a start that was killed is done again.
		throwOpen(t, filepath.Join(elsewhere))
		testkit.NoError(t, os.Chmod(elsewhere, 0o700))
		testkit.NoError(t, os.WriteFile(filepath.Join(elsewhere, closing), nil, 0o600))
		s.start()
		check("after a start that follows one that was killed")
	})
}

// A SQLite database beside the data folder is as private as one in it.
func TestDatabaseElsewhereIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newInstanceOn(t, filepath.Join(t.TempDir(), "data"), filepath.Join(dir, "other.db"))
	s.start()
	s.user("alice")
	s.kill() // so that the log stays
	throwOpen(t, dir)
	s.wrapper = widely
	s.start()
	for _, open := range opened(t, dir) {
		if !strings.HasSuffix(open, dir) {
			t.Error("open to others:", open)
		}
	}
}

// A proxy on the same machine has an account of its own, so the mode of a socket follows
// the umask with which the server was started.
func TestSocketIsForWhomTheUmaskSays(t *testing.T) {
	t.Parallel()
	for umask, want := range map[string]fs.FileMode{"000": 0o777, "007": 0o770, "077": 0o700} {
		s := newInstance(t, db.SQLite)
		s.wrapper = []string{"sh", "-c", `umask ` + umask + `; "$@"; exit $?`, "sh"}
		socket := filepath.Join(t.TempDir(), "socket")
		s.start("--listen", "unix:"+socket)
		info, err := os.Stat(socket)
		testkit.NoError(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("under umask %s the socket is %v, want %v", umask, got, want)
		}
	}
}

// A folder that holds something else is not taken for a data folder: its programs would stop running, and
// what others may read would be closed to them.
func TestForeignFolderIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	foreign := t.TempDir()
	testkit.NoError(t, os.Chmod(foreign, 0o755))
	program := filepath.Join(foreign, "program")
	testkit.NoError(t, errors.Join(os.WriteFile(program, nil, 0o600), os.Chmod(program, 0o755)))
	arbor := func(args ...string) (string, error) { return s.tells(append(args, "--data", foreign)...) }
	for _, args := range [][]string{{"user", "create", "alice"}, {"serve", "--listen", "127.0.0.1:0"},
		{"restore", filepath.Join(foreign, "backup")}} {
		out, err := arbor(args...)
		if err == nil || !strings.Contains(out, "not a data folder: it contains program") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	list, err := os.ReadDir(foreign)
	testkit.NoError(t, err)
	info, err := os.Stat(program)
	if err != nil || info.Mode().Perm() != 0o755 || len(list) != 1 {
		t.Errorf("%v, %v, %v", info, err, list)
	}
	testkit.NoError(t, os.Remove(program))
	testkit.NoError(t, os.Mkdir(filepath.Join(foreign, "lost+found"), 0o700))
	if out, err := arbor("user", "create", "alice"); err != nil {
		t.Errorf("an empty disk: %v: %s", err, out)
	}
}

// A folder that is named wrongly is an error, and stays as it is: a nightly backup of an empty store would
// succeed.
func TestCommandsNeedAStore(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	empty := t.TempDir()
	missing := filepath.Join(empty, "missing")
	for _, data := range []string{empty, missing} {
		for _, args := range [][]string{{"user", "list"}, {"token", "list"},
			{"org", "create", "club", "--owner", "alice"},
			{"backup", filepath.Join(t.TempDir(), "backup")}, {"check"}, {"audit"}} {
			if out, err := s.tells(append(args, "--data", data)...); err == nil ||
				!strings.Contains(out, "no store found") {
				t.Errorf("%q: %v: %s", args, err, out)
			}
		}
	}
	if list, err := os.ReadDir(empty); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

package repos_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// needLFS skips what works with git lfs, which some machines lack.
func needLFS(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git-lfs"); err == nil {
		return
	}
	if os.Getenv("ARBOR_TEST_STRICT") == "1" {
		t.Fatal("git-lfs is missing, and ARBOR_TEST_STRICT=1")
	}
	t.Skip("skipped: large files with git lfs; needs git-lfs: apt-get install git-lfs")
}

// desk is the folder of somebody who works with git lfs.
type desk struct {
	t   *testing.T
	dir string
	env []string
}

// newDesk returns a desk with git lfs installed; env is that of git.
func newDesk(t *testing.T, env []string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), env: append(env[:len(env):len(env)], "GIT_LFS_FORCE_PROGRESS=0")}
	for n, name := range d.env {
		switch {
		case strings.HasPrefix(name, "HOME="):
			d.env[n] = "HOME=" + d.dir
		case strings.HasPrefix(name, "GIT_CONFIG_GLOBAL="):
			d.env[n] = "GIT_CONFIG_GLOBAL=" + filepath.Join(d.dir, "gitconfig")
		}
	}
	d.git(".", "lfs", "install", "--skip-repo")
	d.git(".", "config", "--global", "lfs.locksverify", "true")
	d.git(".", "config", "--global", "lfs.transfer.maxretries", "1")
	return d
}

func (d *desk) git(at string, args ...string) string {
	d.t.Helper()
	return run(d.t, filepath.Join(d.dir, at), d.env, "git", args...)
}

// fails runs git, which must fail and say something.
func (d *desk) fails(at, says string, args ...string) {
	d.t.Helper()
	out, err := try(d.t, filepath.Join(d.dir, at), d.env, "git", args...)
	if err == nil || !strings.Contains(out, says) {
		d.t.Errorf("git %s: %v, want %q\n%s", strings.Join(args, " "), err, says, out)
	}
}

// write writes a file of random bytes and returns these.
func (d *desk) write(path string, size int) []byte {
	d.t.Helper()
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size), path[0]}).Read(data)
	testkit.NoError(d.t, os.WriteFile(filepath.Join(d.dir, path), data, 0o600))
	return data
}

func (d *desk) has(path string, want []byte) {
	d.t.Helper()
	got, err := os.ReadFile(filepath.Join(d.dir, path))
	if err != nil || !bytes.Equal(got, want) {
		d.t.Errorf("%s has %d bytes that are not those of %d, %v", path, len(got), len(want), err)
	}
}

// largeWorld is a server that knows its address, which it tells over SSH.
func largeWorld(t *testing.T, engine db.Engine) *world {
	t.Helper()
	address, host := testkit.FreeAddress(t), testkit.Signer(t)
	s := apitest.StartOn(t, engine, address, func(o *server.Options) {
		o.BaseURL, o.SSH.HostKeys = "http://"+address, []ssh.Signer{host}
	})
	return serve(t, s, host.PublicKey())
}

// What a game team does all day, with the git lfs that it has: over HTTP, and over SSH.
func TestGitLFS(t *testing.T) {
	t.Parallel()
	needLFS(t)
	needSSH(t)
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := largeWorld(t, engine)
		w.Users(t, "alice", "bob", "eve")
		r := w.Repo(t, "alice/game", true)
		w.Grant(t, r, "bob", account.Push)
		over := map[string]string{"http": w.Remote(t, "alice", "alice/game"),
			"ssh": "ssh://git@" + w.address + "/alice/game.git"}
		d := newDesk(t, w.openSSH(t, "alice"))
		d.git(".", "init", "-q", "work")
		d.git("work", "lfs", "track", "*.bin", "--lockable")
		first := d.write("work/a.bin", 3_000_000)
		d.git("work", "add", ".")
		d.git("work", "commit", "-qm", "one")
		d.git("work", "push", "-q", over["http"], "main")
		for way, remote := range over {
			d.git(".", "clone", "-q", remote, way)
			d.has(way+"/a.bin", first)
		}
		bob := newDesk(t, gittest.Env())
		bob.git(".", "clone", "-q", w.Remote(t, "bob", "alice/game"), "game")
		bob.has("game/a.bin", first)

		// Locks, over both ways.
		d.git("ssh", "lfs", "lock", "a.bin")
		if out := d.git("http", "lfs", "locks"); !strings.Contains(out, "a.bin") || !strings.Contains(out, "alice") {
			t.Errorf("locks: %s", out)
		}
		testkit.NoError(t, os.Chmod(filepath.Join(bob.dir, "game", "a.bin"), 0o600))
		bob.write("game/a.bin", 50)
		bob.git("game", "commit", "-qam", "mine")
		bob.fails("game", "Unable to push locked files", "push", "-q", "origin", "main")
		bob.fails("game", `"a.bin" is locked by alice`, "-c", "lfs.locksverify=false", "push", "origin", "main")
		bob.fails("game", "locked by alice", "lfs", "unlock", "--force", "a.bin")
		bob.fails("game", "already", "lfs", "lock", "a.bin")
		bob.git("game", "reset", "-q", "--hard", "origin/main")
		second := bob.write("game/b.bin", 2_000_000)
		bob.git("game", "add", ".")
		bob.git("game", "commit", "-qm", "two")
		bob.git("game", "push", "-q", "origin", "main")
		d.git("ssh", "pull", "-q")
		d.has("ssh/b.bin", second)
		third := d.write("ssh/c.bin", 1_000_000)
		d.git("ssh", "add", ".")
		d.git("ssh", "commit", "-qm", "three")
		d.git("ssh", "push", "-q", "origin", "main")
		d.git("http", "pull", "-q")
		d.has("http/c.bin", third)
		d.git("http", "lfs", "unlock", "a.bin")

		// A download goes on where it broke off.
		oid := strings.Fields(d.git("http", "lfs", "ls-files", "-l", "-I", "c.bin"))[0]
		store := filepath.Join(d.dir, "http", ".git", "lfs")
		testkit.NoError(t, os.Remove(filepath.Join(store, "objects", oid[:2], oid[2:4], oid)))
		testkit.NoError(t, os.MkdirAll(filepath.Join(store, "incomplete"), 0o700))
		testkit.NoError(t, os.WriteFile(filepath.Join(store, "incomplete", oid+".part"), third[:400_000], 0o600))
		testkit.NoError(t, os.Remove(filepath.Join(d.dir, "http", "c.bin")))
		d.git("http", "lfs", "pull")
		d.git("http", "lfs", "fsck")
		testkit.Eventually(t, func() bool { // the log is written after the answer
			return slices.ContainsFunc(w.Log.Requests(), func(q apitest.Request) bool { return q.Status == 206 })
		}, "git-lfs asks for the rest of an object")

		// Who may not.
		eve := newDesk(t, gittest.Env())
		eve.fails(".", "not found", "clone", w.Remote(t, "eve", "alice/game"), "game")

		// A fork has the objects, and a quota holds.
		w.Ask(t, "bob", "POST /repos/alice/game/forks", "", 202)
		bob.git(".", "clone", "-q", w.Remote(t, "bob", "bob/game"), "fork")
		bob.has("fork/b.bin", second)
		setKB(t, w.Server, "bob", owned(t, w.Server, "bob")+100)
		bob.write("fork/large.bin", 500_000)
		bob.git("fork", "add", ".")
		bob.git("fork", "commit", "-qm", "four")
		bob.fails("fork", "may take at most", "push", "origin", "main")
		sound(t, w.Server)

		// Bytes that a disk has damaged are noticed by who gets them.
		damage(t, w, oid)
		d.fails(".", "a", "clone", over["http"], "damaged")
	})
}

// damage changes the bytes of an object on the disk.
func damage(t *testing.T, w *world, oid string) {
	t.Helper()
	var names []string
	testkit.NoError(t, w.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		names, err = db.QueryTexts(tx, `SELECT name FROM files WHERE sha256 = $1`, oid)
		return err
	}))
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(w.Dir, "files", name[:2], name), os.O_WRONLY, 0)
		testkit.NoError(t, err)
		_, err = fmt.Fprint(f, "damaged")
		testkit.NoError(t, err)
		testkit.NoError(t, f.Close())
	}
}

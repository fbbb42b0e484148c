package repos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What people do with git all day, with the git and ssh that they have, in each version of the protocol.
func TestGitOverSSH(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", true)
		env, dir := w.openSSH(t, "alice"), t.TempDir()
		remote := "ssh://git@" + w.address + "/alice/garden.git"
		git := func(args ...string) string { t.Helper(); return run(t, dir, env, "git", args...) }
		git("clone", "-q", remote, "empty")
		git("init", "-q", "work")
		commit := func(n int) {
			t.Helper()
			body := strings.Repeat(fmt.Sprint("line ", n, "\n"), 10)
			testkit.NoError(t, os.WriteFile(filepath.Join(dir, "work", fmt.Sprint("f", n)), []byte(body),
				0o600))
			git("-C", "work", "add", ".")
			git("-C", "work", "commit", "-q", "-m", fmt.Sprint("commit ", n))
		}
		for n := range 5 {
			commit(n)
		}
		git("-C", "work", "tag", "-a", "-m", "first", "v1")
		git("-C", "work", "push", "-q", remote, "main", "main:topic", "v1")
		for _, version := range []string{"0", "1", "2"} {
			protocol := "protocol.version=" + version
			name := func(kind string) string { return kind + version }
			same := func(of, kind string) {
				t.Helper()
				want, got := git("-C", "work", "rev-list", of),
					git("-C", name(kind), "rev-list", "origin/"+of)
				if got != want {
					t.Errorf("protocol %s: %s has of %s\n%s\nwant\n%s", version, kind, of, got, want)
				}
			}
			git("-c", protocol, "clone", "-q", remote, name("clone"))
			git("-c", protocol, "clone", "-q", "--depth=1", remote, name("shallow"))
			git("-c", protocol, "clone", "-q", "--filter=blob:none", "--no-checkout", remote, name("partial"))
			if n := git("-C", name("shallow"), "rev-list", "--count", "HEAD"); n != "1" {
				t.Errorf("protocol %s: a shallow clone has %s commits", version, n)
			}
			if missing := git("-C", name("partial"), "rev-list", "--objects", "--missing=print",
				"HEAD"); !strings.Contains(missing, "?") {
				t.Errorf("protocol %s: a clone without blobs has them:\n%s", version, missing)
			}
			same("main", "clone")
			commit(10 + int(version[0]))
			git("-c", protocol, "-C", "work", "push", "-q", remote, "main")
			git("-c", protocol, "-C", name("clone"), "-c", "fetch.negotiationAlgorithm=consecutive",
				"fetch", "-q")
			git("-c", protocol, "-C", name("shallow"), "fetch", "-q", "--deepen=2")
			git("-c", protocol, "-C", name("shallow"), "fetch", "-q", "--unshallow")
			same("main", "clone")
			same("main", "shallow")
			git("-C", "work", "branch", "-f", "topic", "main~2")
			git("-c", protocol, "-C", "work", "push", "-q", "--force", remote, "topic")
			git("-c", protocol, "-C", name("clone"), "fetch", "-q")
			same("topic", "clone")
			git("-c", protocol, "-C", "work", "push", "-q", remote, "main") // nothing
			out, err := try(t, dir, env, "git", "-c", protocol, "-C", "work", "push", remote, ":main")
			if err == nil || !strings.Contains(out, "remote rejected") {
				t.Errorf("protocol %s: the default branch is deleted: %v %s", version, err, out)
			}
		}
		git("-C", "work", "push", "-q", remote, ":topic")
		w.mirrors(t, env, dir, remote)
	})
}

// mirrors compares what SSH and HTTP serve.
func (w *world) mirrors(t *testing.T, env []string, dir, remote string) {
	t.Helper()
	run(t, dir, env, "git", "clone", "-q", "--mirror", remote, "overssh")
	run(t, dir, env, "git", "clone", "-q", "--mirror", w.Remote(t, "alice", "alice/garden"), "overhttp")
	for _, args := range [][]string{{"for-each-ref"}, {"rev-list", "--all", "--objects"},
		{"symbolic-ref", "HEAD"}} {
		ssh := run(t, dir, env, "git", append([]string{"-C", "overssh"}, args...)...)
		if http := run(t, dir, env, "git", append([]string{"-C", "overhttp"}, args...)...); ssh != http {
			t.Errorf("git %s\nover SSH\n%s\nover HTTP\n%s", args[0], ssh, http)
		}
	}
}

// A pack that is too large to be held in memory arrives whole, and many may fetch it at once.
func TestLargePush(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/large", false)
		env, dir := w.openSSH(t, "alice"), t.TempDir()
		from := gittest.Repository(t, 300, 400)
		remote := "ssh://git@" + w.address + "/alice/large"
		run(t, from, env, "git", "push", "-q", remote, "main")
		want := run(t, from, env, "git", "rev-list", "--objects", "main")
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				clone := filepath.Join(dir, fmt.Sprint(n))
				out, err := try(t, dir, env, "git", "-c", fmt.Sprint("protocol.version=", n%3), "clone", "-q",
					"--bare", remote, clone)
				if err != nil {
					t.Errorf("clone %d: %v %s", n, err, out)
					return
				}
				if got, _ := try(t, clone, env, "git", "rev-list", "--objects", "main"); got != want {
					t.Errorf("clone %d has other objects", n)
				}
			})
		}
		all.Wait()
	})
}

// A reader without push access gets the reason in git's own words.
func TestOpenSSHHearsWhy(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "bob")
		w.Repo(t, "alice/garden", false)
		w.Repo(t, "alice/cellar", true)
		dir := gittest.Repository(t, 2, 2)
		w.Import(t, w.Repo(t, "alice/shed", false), dir)
		env := w.openSSH(t, "bob")
		host, port, _ := strings.Cut(w.address, ":")
		for _, c := range []struct{ args, want string }{
			{"ssh -T -p PORT git@HOST",
				"Hi bob! You've successfully authenticated, but Arbor does not provide shell access."},
			{"ssh -p PORT git@HOST ls -l /",
				"ERROR: Arbor runs git-upload-pack, git-receive-pack, git-lfs-transfer and git-lfs-authenticate over SSH"},
			{"ssh -p PORT git@HOST git-upload-archive 'alice/garden.git'", "ERROR: Arbor runs"},
			{"ssh -p PORT -s git@HOST sftp", "subsystem request failed"},
			{"ssh -p PORT -W 127.0.0.1:1 git@HOST", "administratively prohibited: nothing is forwarded here"},
			{"ssh -p PORT -o ExitOnForwardFailure=yes -N -R 0:127.0.0.1:1 git@HOST",
				"remote port forwarding failed"},
			{"ssh -T -p PORT bob@HOST", "The user name is git for everybody"},
			{"git push ssh://git@HOST:PORT/alice/shed.git main:other",
				"ERROR: You may read alice/shed but not push to it"},
			{"git ls-remote ssh://git@HOST:PORT/alice/cellar.git", "ERROR: Repository not found."},
			{"git ls-remote ssh://git@HOST:PORT/alice/nowhere.git", "ERROR: Repository not found."},
			{"git archive --remote=ssh://git@HOST:PORT/alice/shed.git main", "ERROR: Arbor runs"},
			{"git ls-remote ssh://git@HOST:PORT/alice/shed.git/../../x", "ERROR: Repository not found."},
		} {
			fields := strings.Fields(strings.NewReplacer("HOST", host, "PORT", port).Replace(c.args))
			if fields[0] == "ssh" {
				fields = append([]string{"ssh", "-F", filepath.Join(w.dir, "bob.ssh")}, fields[1:]...)
			}
			out, err := try(t, dir, env, fields[0], fields[1:]...)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%s: %v\n%s\nwant %q", c.args, err, out, c.want)
			}
		}
	})
}

//go:build long

package repos_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/bucket"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Who clones a private repository with a deploy key, from a server that lets nobody in without credentials, is offered
// its bundle, and has the right history whatever it asks for: all of it, a part of it, or none of the contents.
func TestBundlesForDeployKeys(t *testing.T) {
	needSSH(t)
	service := bucket.Start(t)
	service.Setenv(t)
	host := testkit.Signer(t)
	s := apitest.Start(t, db.SQLite, apitest.On(t, dbtest.URL(t, db.SQLite)), func(o *server.Options) {
		objects, err := depot.Canonical(service.Address("keys", ""))
		testkit.NoError(t, err)
		o.Objects, o.BundleSize, o.RequireToken, o.SSH.HostKeys = objects, 1<<20, true, []ssh.Signer{host}
	})
	w := serve(t, s, host.PublicKey())
	w.User(t, "alice")
	w.Ask(t, "alice", "POST /user/repos", `{"name": "garden", "private": true, "auto_init": true}`, 201)
	source := filepath.Join(t.TempDir(), "source")
	gittest.Run(t, t.TempDir(), "clone", "-q", w.Remote(t, "alice", "alice/garden"), source)
	noise := make([]byte, 3<<20)
	_, _ = rand.Read(noise)
	testkit.NoError(t, os.WriteFile(filepath.Join(source, "noise"), noise, 0o600))
	gittest.Run(t, source, "add", ".")
	gittest.Run(t, source, "commit", "-q", "-m", "noise")
	gittest.Run(t, source, "push", "-q", "origin", "HEAD")
	tip := gittest.Run(t, source, "rev-parse", "HEAD")

	added := ""
	env := w.openSSHWith(t, "deploy", func(public string) {
		a := w.Ask(t, "alice", "POST /repos/alice/garden/keys", fmt.Sprintf(`{"key": %q, "read_only": true}`, public), 201)
		added = strings.TrimPrefix(a.Header.Get("Location"), w.URL)
	})
	remote := "ssh://git@" + w.address + "/alice/garden.git"
	trace := append(env, "GIT_TRACE_PACKET=1")
	offered := func() bool {
		said, err := try(t, t.TempDir(), trace, "git", "-c", "protocol.version=2", "ls-remote", remote)
		testkit.NoError(t, err)
		return strings.Contains(said, "< bundle-uri")
	}
	testkit.Eventually(t, offered, "a bundle is offered to the key")
	for name, c := range map[string]struct {
		flags   []string
		commits string
	}{
		"all of it":        {nil, "2"},
		"one commit":       {[]string{"--depth=1"}, "1"},
		"without contents": {[]string{"--filter=blob:none", "--no-checkout"}, "2"},
		"one branch":       {[]string{"--single-branch"}, "2"},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		flags := append([]string{"-c", "transfer.bundleURI=true", "clone", "-q"}, c.flags...)
		run(t, t.TempDir(), env, "git", append(flags, remote, clone)...)
		run(t, clone, env, "git", "fsck", "--strict", "--full")
		if got := gittest.Run(t, clone, "rev-parse", "HEAD"); got != tip {
			t.Errorf("%s: the clone is at %s, want %s", name, got, tip)
		}
		if got := gittest.Run(t, clone, "rev-list", "--count", "HEAD"); got != c.commits {
			t.Errorf("%s: the clone has %s commits, want %s", name, got, c.commits)
		}
		run(t, clone, env, "git", "checkout", "-q", "HEAD")
		if got, err := os.ReadFile(filepath.Join(clone, "noise")); err != nil || string(got) != string(noise) {
			t.Errorf("%s: the file has %d bytes: %v", name, len(got), err)
		}
		t.Logf("%s: %q", name, gittest.Run(t, clone, "for-each-ref", "refs/bundles"))
	}
	const question = "0010agent=git/2\n0017object-format=sha1\n0017command=bundle-uri\n00010000"
	w.Check(t, apitest.Case{Do: "POST /alice/garden.git/git-upload-pack", Send: question, Status: 401,
		Headers: map[string]string{"Git-Protocol": "version=2", "Content-Type": "application/x-git-upload-pack-request"}})
	w.Ask(t, "alice", "DELETE "+added, "", 204)
	if said, err := try(t, t.TempDir(), trace, "git", "ls-remote", remote); err == nil || strings.Contains(said, "bundle") {
		t.Errorf("a key that was removed is told: %s", said)
	}
}

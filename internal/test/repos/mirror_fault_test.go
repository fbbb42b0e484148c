package repos_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/mirror"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// quota sets how many KiB an account may have.
func (w *mirrored) quota(t *testing.T, login string, kb int64) {
	t.Helper()
	_, _, _, err := w.Accounts.EditQuota(t.Context(), nil, account.User, login, func(q *account.Quota) { q.KB = &kb })
	testkit.NoError(t, err)
}

// grow pushes a file that cannot be compressed to the source.
func (w *mirrored) grow(t *testing.T, kb int) {
	t.Helper()
	noise := make([]byte, kb<<10)
	rand.Read(noise)
	testkit.NoError(t, os.WriteFile(filepath.Join(w.dir, "noise"), noise, 0o600))
	gittest.Run(t, w.dir, "add", "noise")
	gittest.Run(t, w.dir, "commit", "-q", "-m", "noise")
	gittest.Run(t, w.dir, "push", "-q", "origin", "main")
}

// left are what runs of mirrors left in the folder of the repositories.
func (w *mirrored) left(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"mirror-*", "*/*/incoming-*", "*/*/objects/incoming-*"} {
		found, err := filepath.Glob(filepath.Join(w.Repos.Dir(), pattern))
		testkit.NoError(t, err)
		list = append(list, found...)
	}
	return list
}

// A source that breaks off in its pack, or sends more than the quota of the mirror's owner, changes nothing and leaves nothing.
func TestMirrorLeavesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newMirrored(t, s)
		from := newSource(t, s.URL)
		s.Grant(t, s.Repo(t, "bob/copy", false), "alice", account.Admin)
		const path = "/repos/bob/copy"
		s.Ask(t, "bob", "PUT "+path+"/mirror", fmt.Sprintf(
			`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, s.Token(t, "alice")), 201)
		w.copied(t, path+"/mirror")
		before := w.refs(t, "bob/copy")
		w.grow(t, 200)
		cut := func(rw http.ResponseWriter, r *http.Request) bool {
			if from.begin(rw, r) {
				return true
			}
			panic(http.ErrAbortHandler)
		}
		for _, f := range []struct {
			name, want string
			kb         int64
			fault      func(http.ResponseWriter, *http.Request) bool
		}{
			{"breaks off in the pack", "the connection ended in the middle", 10_000, cut},
			{"is too large", "of bob may take at most 60 KiB", 60, nil},
			{"finds no room at all", "of bob may take at most 0 KiB", 0, nil},
		} {
			w.quota(t, "bob", f.kb)
			from.misbehave(f.fault)
			if got := w.sync(t, "bob/copy"); !strings.Contains(got.problem(), f.want) || !got.Active {
				t.Errorf("%s: %+v %q", f.name, got, got.problem())
			}
			if now, left := w.refs(t, "bob/copy"), w.left(t); now != before || len(left) > 0 {
				t.Errorf("%s: the mirror has %s, and leaves %q", f.name, now, left)
			}
		}
		from.misbehave(nil)
		w.quota(t, "bob", 10_000)
		if got := w.sync(t, "bob/copy"); got.problem() != "" || w.refs(t, "bob/copy") != w.refs(t, "alice/source") {
			t.Errorf("with room again: %+v %q", got, got.problem())
		}
	})
}

// Where the key of passwords is lost, runs say so and make no other key; a password that is entered again counts.
func TestMirrorWithoutItsKey(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	w := newMirrored(t, s)
	s.Repo(t, "alice/copy", false)
	s.Repo(t, "alice/other", false)
	set := func(name string, status int) {
		s.Ask(t, "alice", "PUT /repos/"+name+"/mirror", fmt.Sprintf(
			`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, s.URL, s.Token(t, "alice")), status)
	}
	set("alice/copy", 201)
	set("alice/other", 201)
	w.copied(t, "/repos/alice/copy/mirror")
	w.copied(t, "/repos/alice/other/mirror")
	key := filepath.Join(s.Dir, mirror.Folder, "key")
	testkit.NoError(t, os.Remove(key))
	const lost = "the key that encrypted its password is missing in this server's data folder: " +
		"enter the password again"
	if got := w.sync(t, "alice/copy"); got.problem() != lost {
		t.Errorf("without the key: %q", got.problem())
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("a run made another key, so nobody sees that the first is lost")
	}
	set("alice/copy", 200)
	w.copied(t, "/repos/alice/copy/mirror")
	if got := w.sync(t, "alice/other"); !strings.Contains(got.problem(), "encrypted with another key") {
		t.Errorf("with another key: %q", got.problem())
	}
	testkit.NoError(t, os.WriteFile(key, []byte("short"), 0o600))
	s.Ask(t, "alice", "POST /repos/alice/copy/mirror-sync", "", 204)
	testkit.Eventually(t, func() bool { // a run may have begun before
		return w.now(t, "/repos/alice/copy/mirror").problem() == "internal error of this server: see its log"
	}, "a broken key is a failure of the server")
	if !strings.Contains(s.Log.Text(), "has 5 bytes, want 32: remove the file") {
		t.Error("the log does not say what is wrong with the key")
	}
}

package repos_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// largeFile commits a file of Git LFS to the source and pushes it. It returns its content.
func (w *mirrored) largeFile(t *testing.T, d *desk, name string, size int) []byte {
	t.Helper()
	data := d.write("work/"+name, size)
	d.git("work", "add", ".")
	d.git("work", "commit", "-qm", name)
	d.git("work", "push", "-q", "origin", "HEAD:large")
	return data
}

// newLarge returns a desk with a working copy of the source that has large files.
func (w *mirrored) newLarge(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, gittest.Env())
	d.git(".", "clone", "-q", w.Remote(t, "alice", "alice/source"), "work")
	d.git("work", "lfs", "track", "*.bin")
	return d
}

// cloned is a file of a fresh clone of the branch with large files.
func (w *mirrored) cloned(t *testing.T, d *desk, name, file string) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	d.git(".", "clone", "-q", "-b", "large", w.Remote(t, "alice", name), dir)
	data, err := os.ReadFile(filepath.Join(dir, file))
	testkit.NoError(t, err)
	return data
}

// A mirror has the objects of Git LFS that its source has. Objects that cannot be copied hold no branch up, and are
// copied once that is possible.
func TestPullMirrorOfLargeFiles(t *testing.T) {
	t.Parallel()
	needLFS(t)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w, from := newMirrored(t, s), newSource(t, s.URL)
		d := w.newLarge(t)
		first := w.largeFile(t, d, "a.bin", 300_000)
		s.Repo(t, "alice/copy", false)
		const path = "/repos/alice/copy"
		set := fmt.Sprintf(`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, s.Token(t, "alice"))
		s.Ask(t, "alice", "PUT "+path+"/mirror", set, 201)
		w.copied(t, path+"/mirror")
		if string(w.cloned(t, d, "alice/copy", "a.bin")) != string(first) {
			t.Error("the mirror has another file")
		}

		from.misbehave(nil)
		if got := w.sync(t, "alice/copy"); got.problem() != "" {
			t.Fatal(got.problem())
		}
		if asked := from.misbehave(nil); len(asked) > 3 { // git asks once without the password
			t.Errorf("a look at a source without changes asked %q", asked)
		}

		refuses := func(status int) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				is := strings.HasSuffix(r.URL.Path, "/objects/batch")
				if is {
					w.WriteHeader(status)
				}
				return is
			}
		}
		from.misbehave(refuses(500))
		second := w.largeFile(t, d, "b.bin", 200_000)
		got := w.sync(t, "alice/copy")
		if got.problem() != "1 object of Git LFS is not copied yet: the other server answers 500" || got.Failures != 0 || !got.Active {
			t.Errorf("%+v %q", got, got.problem())
		}
		if w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
			t.Error("the branch does not follow")
		}
		from.misbehave(nil)
		if got := w.sync(t, "alice/copy"); got.problem() != "" {
			t.Fatal(got.problem())
		}
		if string(w.cloned(t, d, "alice/copy", "b.bin")) != string(second) {
			t.Error("the mirror has another file")
		}

		// No room, and then one that the source lost.
		w.largeFile(t, d, "c.bin", 400_000)
		w.quota(t, "alice", owned(t, s, "alice")+50)
		if got := w.sync(t, "alice/copy"); !strings.Contains(got.problem(), "may take at most") || got.Failures != 0 {
			t.Errorf("%+v %q", got, got.problem())
		}
		sound(t, s)
		w.quota(t, "alice", 100_000)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`DELETE FROM lfs_objects WHERE size = 400000`)
		}))
		if got := w.sync(t, "alice/copy"); got.problem() != "1 object of Git LFS is not copied yet: the other server does not have it (404)" {
			t.Errorf("%+v %q", got, got.problem())
		}
		if w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
			t.Error("the branch does not follow")
		}
		s.Ask(t, "alice", "DELETE "+path+"/mirror", "", 204)
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			var n int
			err := tx.QueryRow(`SELECT (SELECT COUNT(*) FROM mirror_objects) + (SELECT COUNT(*) FROM mirror_searches)`).Scan(&n)
			if n != 0 {
				t.Errorf("%d rows stay of a mirror that was removed", n)
			}
			return err
		}))

		// An import ends without what its source lost, but with what it has.
		s.Repo(t, "alice/once", false)
		from.misbehave(refuses(503))
		s.Ask(t, "alice", "PUT /repos/alice/once/mirror", strings.Replace(set, "{", `{"once":true,`, 1), 201)
		if got := w.ran(t, "/repos/alice/once/mirror", state{}); got.Failures == 0 {
			t.Errorf("an import without its files has ended: %+v %q", got, got.problem())
		}
		from.misbehave(nil)
		s.Ask(t, "alice", "POST /repos/alice/once/mirror-sync", "", 204)
		testkit.Eventually(t, func() bool {
			return strings.TrimSpace(string(s.Ask(t, "alice", "GET /repos/alice/once/mirror", "", 200).Body)) == "null"
		}, "it is imported")
		s.Run(t, []apitest.Case{largeGet("", "alice/once", string(second), 200)})
	})
}

// A push mirror's target gets objects before the branches that need them, and only those that it lacks.
func TestPushMirrorOfLargeFiles(t *testing.T) {
	t.Parallel()
	needLFS(t)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w, to := newMirrored(t, s), newSource(t, s.URL)
		d := w.newLarge(t)
		first := w.largeFile(t, d, "a.bin", 300_000)
		s.Repo(t, "alice/target", false)
		const path = "/repos/alice/source"
		var made struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "POST " + path + "/push_mirrors", As: "alice", Status: 201, Send: fmt.Sprintf(
			`{"remote_url":"%s/alice/target.git","username":"alice","password":%q}`, to.URL, s.Token(t, "alice"))}).JSON(t, &made)
		at := fmt.Sprintf("%s/push_mirrors/%d", path, made.ID)
		w.copied(t, at)
		if string(w.cloned(t, d, "alice/target", "a.bin")) != string(first) {
			t.Error("the target has another file")
		}

		var pushed, early atomic.Bool
		to.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				pushed.Store(true)
			}
			early.Store(early.Load() || pushed.Load() && strings.HasSuffix(r.URL.Path, "/objects/batch"))
			return false
		})
		second := w.largeFile(t, d, "b.bin", 200_000)
		same := func() bool { return w.refs(t, "alice/target") == w.refs(t, "alice/source") }
		testkit.Eventually(t, same, "a push is copied")
		if string(w.cloned(t, d, "alice/target", "b.bin")) != string(second) || early.Load() {
			t.Errorf("the target has another file, or got it after its branch: %v", early.Load())
		}

		before := w.now(t, at)
		to.misbehave(nil)
		s.Ask(t, "alice", "POST "+path+"/push_mirrors-sync", "", 204)
		w.ran(t, at, before)
		if asked := to.misbehave(nil); len(asked) > 3 {
			t.Errorf("a run without changes asked %q", asked)
		}

		to.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			is := strings.Contains(r.URL.Path, "/info/lfs/")
			if is {
				w.WriteHeader(http.StatusNotFound)
			}
			return is
		})
		third := w.largeFile(t, d, "c.bin", 100_000)
		testkit.Eventually(t, same, "a target without Git LFS gets the branches")
		testkit.Eventually(t, func() bool {
			return w.now(t, at).problem() == "1 object of Git LFS is not copied yet: the other server does not have it (404)"
		}, "it says what is missing")
		to.misbehave(nil)
		s.Ask(t, "alice", "POST "+path+"/push_mirrors-sync", "", 204)
		testkit.Eventually(t, func() bool { return w.now(t, at).problem() == "" }, "it catches up")
		if string(w.cloned(t, d, "alice/target", "c.bin")) != string(third) {
			t.Error("the target has another file")
		}
	})
}

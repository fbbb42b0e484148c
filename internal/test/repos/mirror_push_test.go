package repos_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A push mirror gets each push, and only administrators read why it fails.
func TestPushMirror(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w, to := newMirrored(t, s), newSource(t, s.URL)
		s.Repo(t, "alice/target", false)
		const path = "/repos/alice/source"
		add := func() (at string) {
			var made struct{ ID int64 }
			s.Check(t, apitest.Case{Do: "POST " + path + "/push_mirrors", As: "alice", Status: 201, Send: fmt.Sprintf(
				`{"remote_url":"%s/alice/target.git","username":"alice","password":%q}`, to.URL, s.Token(t, "alice"))}).JSON(t, &made)
			return fmt.Sprintf("%s/push_mirrors/%d", path, made.ID)
		}
		at := add()
		same := func() bool { return w.refs(t, "alice/target") == w.refs(t, "alice/source") }
		testkit.Eventually(t, same, "what is there is copied")
		gittest.Run(t, w.dir, "branch", "topic")
		gittest.Run(t, w.dir, "notes", "add", "-m", "reviewed")
		gittest.Run(t, w.dir, "push", "-q", "origin", "topic", "refs/notes/commits", ":v1")
		testkit.Eventually(t, same, "a push is copied")
		gittest.Run(t, w.dir, "push", "-q", "origin", ":topic", ":refs/notes/commits")
		testkit.Eventually(t, same, "so is a deletion")

		to.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		})
		w.commit(t, "two")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main")
		testkit.Eventually(t, func() bool { return w.now(t, at).problem() == "it denies access (403)" }, "it says why it fails")
		to.misbehave(nil)
		s.Run(t, []apitest.Case{{Do: "POST " + path + "/push_mirrors-sync", As: "alice", Status: 204}})
		testkit.Eventually(t, same, "it catches up")

		s.Run(t, []apitest.Case{{Do: "DELETE " + at, As: "alice", Status: 204},
			{Do: "PATCH " + path, As: "alice", Send: `{"private":false}`, Status: 200}})
		at = add()
		w.copied(t, at)
		var once sync.Once
		to.misbehave(func(http.ResponseWriter, *http.Request) bool {
			once.Do(func() { // while the target lets the mirror wait
				s.Check(t, apitest.Case{Do: "PATCH " + path, As: "alice", Send: `{"private":true}`, Status: 200})
				w.commit(t, "secret")
				gittest.Run(t, w.dir, "push", "-q", "origin", "main")
			})
			return false
		})
		s.Run(t, []apitest.Case{{Do: "POST " + path + "/push_mirrors-sync", As: "alice", Status: 204}})
		testkit.Eventually(t, func() bool {
			return strings.Contains(w.now(t, at).problem(), "became private")
		}, "it stops")
		if same() {
			t.Error("the target has what was pushed after the repository became private")
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + path + "/push_mirrors", As: "bob", Status: 404},
			{Do: "DELETE " + at, As: "alice", Status: 204},
			{Do: "GET " + path + "/push_mirrors", As: "alice", Status: 200, Body: "[]"},
		})
	})
}

// What becomes of mirrors: the table in the comment of package mirror.
func TestMirrorTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newMirrored(t, s)
		mallory := s.User(t, "mallory")
		r := s.Repo(t, "alice/copy", false)
		s.Grant(t, r, "mallory", account.Admin)
		s.Repo(t, "alice/public", false)
		s.Repo(t, "alice/target", false)
		gittest.Run(t, w.dir, "push", "-q", s.Remote(t, "alice", "alice/public"), "main")
		const path = "/repos/alice/copy"
		set := fmt.Sprintf(`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, s.URL, s.Token(t, "alice"))
		follow := func(why string, want bool) {
			t.Helper()
			w.commit(t, why)
			gittest.Run(t, w.dir, "push", "-q", "origin", "main")
			got := w.sync(t, "alice/copy")
			if want { // the run that ended may have begun before the push
				testkit.Eventually(t, func() bool { return w.refs(t, "alice/copy") == w.refs(t, "alice/source") }, why)
			} else {
				got = w.stopped(t, path+"/mirror")
			}
			if same := w.refs(t, "alice/copy") == w.refs(t, "alice/source"); same != want || got.Active != want {
				t.Errorf("%s: the same %v, %+v %q", why, same, got, got.problem())
			}
		}
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "mallory", Send: set, Status: 201}})
		w.copied(t, path+"/mirror")
		s.Run(t, []apitest.Case{{Do: "PATCH " + path, As: "alice", Send: `{"private":true}`, Status: 200}})
		follow("turned private", true)
		s.Run(t, []apitest.Case{{Do: "PATCH " + path, As: "alice", Send: `{"private":false,"name":"copy2"}`, Status: 200},
			{Do: "PATCH /repos/alice/copy2", As: "alice", Send: `{"name":"copy"}`, Status: 200}})
		follow("turned public and renamed", true)
		s.Run(t, []apitest.Case{{Do: "PATCH " + path, As: "alice", Send: `{"archived":true}`, Status: 200},
			{Do: "POST " + path + "/mirror-sync", As: "alice", Status: 403},
			{Do: "PATCH " + path, As: "alice", Send: `{"archived":false}`, Status: 200}})
		follow("no longer archived", true)
		s.Grant(t, r, "mallory", account.Push)
		follow("no longer an administrator", false) // stopped
		s.Grant(t, r, "mallory", account.Admin)
		s.Run(t, []apitest.Case{
			{Do: "POST " + path + "/mirror-sync", As: "alice", Status: 422},
			{Do: "PUT " + path + "/contents/a", As: "alice", Send: `{"message":"m","content":"eA=="}`, Status: 403},
			{Do: "PUT " + path + "/mirror", As: "mallory", Send: set, Status: 200},
		})
		follow("set up again", true)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE accounts SET suspended_at = 1 WHERE id = $1`, mallory.ID)
		}))
		follow("suspended", false)

		var push struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "POST /repos/alice/public/push_mirrors", As: "alice", Status: 201, Send: fmt.Sprintf(
			`{"remote_url":"%s/alice/target.git","username":"alice","password":%q}`, s.URL, s.Token(t, "alice"))}).JSON(t, &push)
		at := fmt.Sprintf("/repos/alice/public/push_mirrors/%d", push.ID)
		w.copied(t, at)
		s.Run(t, []apitest.Case{{Do: "PATCH /repos/alice/public", As: "alice", Send: `{"private":true}`, Status: 200}})
		w.commit(t, "secret")
		gittest.Run(t, w.dir, "push", "-q", s.Remote(t, "alice", "alice/public"), "main")
		if got := w.stopped(t, at); !strings.Contains(got.problem(), "became private") {
			t.Errorf("%+v %q", got, got.problem())
		}
		if w.refs(t, "alice/target") == w.refs(t, "alice/public") {
			t.Error("a private commit was pushed")
		}
	})
}

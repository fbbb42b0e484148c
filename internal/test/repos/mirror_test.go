package repos_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// mirrored is a world with a repository and a working copy of it.
type mirrored struct {
	*apitest.Server
	dir string // a clone of alice/source
}

func newMirrored(t *testing.T, s *apitest.Server) *mirrored {
	t.Helper()
	s.Server.Forge().Mirrors.AskEvery = 0
	s.Users(t, "alice", "bob")
	s.Repo(t, "alice/source", true)
	w := &mirrored{s, t.TempDir()}
	gittest.Run(t, w.dir, "init", "-q", "-b", "main")
	gittest.Run(t, w.dir, "remote", "add", "origin", s.Remote(t, "alice", "alice/source"))
	w.commit(t, "one")
	gittest.Run(t, w.dir, "tag", "-a", "-m", "first", "v1")
	gittest.Run(t, w.dir, "push", "-q", "origin", "main", "v1")
	return w
}

func (w *mirrored) commit(t *testing.T, message string) {
	t.Helper()
	gittest.Run(t, w.dir, "commit", "-q", "--allow-empty", "-m", message)
}

// refs are the branches, tags and notes of a repository, with its HEAD.
func (w *mirrored) refs(t *testing.T, name string) string {
	t.Helper()
	return gittest.Run(t, w.dir, "ls-remote", "--symref", w.Remote(t, "alice", name), "HEAD", "refs/heads/*", "refs/tags/*", "refs/notes/*")
}

// state is what the API says of a mirror.
type state struct {
	ID        int64
	LastError *string `json:"last_error"`
	LastSync  *string `json:"last_sync_at"`
	Active    bool
	Failures  int
	ended     db.Time // of the last run: the API has seconds only
}

// now reads the state of the mirror at a path.
func (w *mirrored) now(t *testing.T, path string) (now state) {
	t.Helper()
	var ended db.Time
	ask := apitest.Case{Do: "GET " + path, As: "alice", Status: 200}
	w.Check(t, ask).JSON(t, &now)
	testkit.NoError(t, w.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT ended_at FROM mirrors WHERE id = $1`, now.ID).Scan(&ended)
	}))
	now = state{}
	w.Check(t, ask).JSON(t, &now) // of that run, or of a later one
	now.ended = ended
	return now
}

// ran waits for a run of the mirror at a path to end, and returns what came of it.
func (w *mirrored) ran(t *testing.T, path string, before state) (now state) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		now = w.now(t, path)
		return now.ended != before.ended
	}, "the mirror runs")
	return now
}

// copied waits for the mirror at a path to succeed.
func (w *mirrored) copied(t *testing.T, path string) (now state) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		if now = w.now(t, path); now.LastError != nil {
			t.Fatal(now.problem())
		}
		return now.LastSync != nil
	}, "it is copied")
	return now
}

// stopped waits until the mirror at a path is stopped: a run that began before may end first.
func (w *mirrored) stopped(t *testing.T, path string) (now state) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		now = w.now(t, path)
		return !now.Active
	}, "the mirror is stopped")
	return now
}

// sync asks the mirror to run, and waits for that.
func (w *mirrored) sync(t *testing.T, name string) state {
	t.Helper()
	path := "/repos/" + name
	before := w.now(t, path+"/mirror")
	w.Run(t, []apitest.Case{{Do: "POST " + path + "/mirror-sync", As: "alice", Status: 204}})
	return w.ran(t, path+"/mirror", before)
}

func (s state) problem() string {
	if s.LastError == nil {
		return ""
	}
	return *s.LastError
}

// A mirror has what its source has, costs one look while nothing changes, and is read-only for everybody else.
func TestPullMirror(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w, from := newMirrored(t, s), newSource(t, s.URL)
		s.Repo(t, "alice/copy", false)
		const path = "/repos/alice/copy"
		set := func(password string) string {
			return fmt.Sprintf(`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, password)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + path + "/mirror", As: "alice", Status: 200, Body: "null"},
			{Do: "PUT " + path + "/mirror", As: "bob", Send: set("x"), Status: 403},
			{Do: "PUT " + path + "/mirror", As: "alice", Send: set("wrongwrong"), Status: 201,
				Want: `{"username": "alice", "interval": 3600, "active": true, "password": "$absent"}`},
		})
		if got := w.ran(t, path+"/mirror", state{}); got.problem() != "it wants other credentials" {
			t.Errorf("%+v", got)
		}
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Send: set(s.Token(t, "alice")), Status: 200}})
		w.copied(t, path+"/mirror")
		if a, b := w.refs(t, "alice/copy"), w.refs(t, "alice/source"); a != b {
			t.Errorf("the mirror has\n%s\nits source\n%s", a, b)
		}

		from.misbehave(nil)
		if got := w.sync(t, "alice/copy"); got.problem() != "" {
			t.Fatal(got.problem())
		}
		if asked := from.misbehave(nil); len(asked) > 3 { // git asks once without the password
			t.Errorf("a look at a source without changes asked %q", asked)
		}
		s.Visit(t, "alice", "GET /alice/copy/settings/mirrors").Shows(t, 200, "copied")

		gittest.Run(t, w.dir, "commit", "-q", "--amend", "--allow-empty", "-m", "forced")
		gittest.Run(t, w.dir, "branch", "trunk")
		w.commit(t, "ahead of trunk")
		gittest.Run(t, w.dir, "push", "-q", "--force", "origin", "main", "trunk")
		gittest.Run(t, w.dir, "push", "-q", "origin", ":v1")
		gittest.Run(t, w.dir, "notes", "add", "-m", "reviewed")
		gittest.Run(t, w.dir, "push", "-q", "origin", "refs/notes/commits", "HEAD:refs/other/kind")
		s.Run(t, []apitest.Case{{Do: "PATCH /repos/alice/source", As: "alice", Send: `{"default_branch":"trunk"}`, Status: 200}})
		if got := w.sync(t, "alice/copy"); got.problem() != "" {
			t.Fatal(got.problem())
		}
		testkit.Eventually(t, func() bool { return w.refs(t, "alice/copy") == w.refs(t, "alice/source") }, "it follows its source")
		all := gittest.Run(t, w.dir, "ls-remote", s.Remote(t, "alice", "alice/copy"))
		if !strings.Contains(all, "refs/notes/commits") || strings.Contains(all, "refs/other") {
			t.Errorf("the mirror has %s", all)
		}
		if _, said, err := gittest.Try(t, w.dir, nil, "push", s.Remote(t, "alice", "alice/copy"), "main:new"); err == nil {
			t.Errorf("a push to a mirror: %s", said)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, Status: 200, Want: `{"mirror_url": "` + from.URL + `/alice/source.git"}`},
			{Do: "PUT " + path + "/contents/a", As: "alice", Send: `{"message":"m","content":"eA=="}`, Status: 403,
				Want: `{"message": "Repository is a mirror, so its branches and tags are read-only. Push to its source."}`},
			{Do: "POST " + path + "/merges", As: "alice", Send: `{"base":"trunk","head":"main"}`, Status: 403,
				Want: `{"message": "Repository is a mirror, so its branches and tags are read-only. Push to its source."}`},
			{Do: "POST " + path + "/issues", As: "alice", Send: `{"title":"t"}`, Status: 201},
			{Do: "GET " + path + "/mirror", As: "bob", Status: 403},
			{Do: "POST " + path + "/mirror-sync", As: "bob", Status: 403},
			{Do: "GET " + path + "/events?per_page=3", Status: 200, Want: `[{"type": "IssuesEvent"},
				{"type": "DeleteEvent", "actor": {"login": "alice"}}, {"type": "CreateEvent"}]`},
			{Do: "DELETE " + path + "/mirror", As: "alice", Status: 204},
			{Do: "GET " + path, Status: 200, Want: `{"mirror_url": null}`},
		})
		gittest.Run(t, w.dir, "push", "-q", s.Remote(t, "alice", "alice/copy"), "main:new")
	})
}

// A source that misbehaves changes nothing, and its mirror's administrators read why.
func TestMirrorOfBadSource(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	w, from := newMirrored(t, s), newSource(t, s.URL)
	s.Repo(t, "alice/copy", false)
	const path = "/repos/alice/copy"
	s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Status: 201, Send: fmt.Sprintf(
		`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, s.Token(t, "alice"))}})
	w.copied(t, path+"/mirror")
	before := w.refs(t, "alice/copy")
	w.commit(t, "two")
	gittest.Run(t, w.dir, "push", "-q", "origin", "main")
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer inside.Close()
	status := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", inside.URL+r.URL.Path)
			w.WriteHeader(code)
			return true
		}
	}
	fetches := 0
	for _, f := range []struct {
		name, want string
		fault      func(http.ResponseWriter, *http.Request) bool
	}{
		{"redirects", "it redirects to another address: give the new one", status(302)},
		{"throttles", "it refuses further requests for now (429)", status(429)},
		{"gone", "there is no repository at the address, or the credentials do not reach it", status(404)},
		{"empty", "it has no branches any more, so nothing was changed here", func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprint(w, "0000")
			}
			return r.Method == http.MethodPost
		}},
		{"ends early", "the connection ended in the middle", func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			if fetches++; fetches == 1 {
				return false // the list of refs
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "0014acknow")
			return true
		}},
	} {
		from.misbehave(f.fault)
		if got := w.sync(t, "alice/copy"); got.problem() != f.want || got.Failures == 0 {
			t.Errorf("%s: %+v %q", f.name, got, got.problem())
		}
		if now := w.refs(t, "alice/copy"); now != before {
			t.Errorf("%s: the mirror has %s", f.name, now)
		}
	}
	from.misbehave(nil)
	if got := w.sync(t, "alice/copy"); got.problem() != "" || got.Failures != 0 || w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
		t.Errorf("%+v %q", got, got.problem())
	}

	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	defer unknown.Close()
	s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Status: 200, Send: `{"remote_url":"` + unknown.URL + `/a.git"}`}})
	testkit.Eventually(t, func() bool {
		now := w.now(t, path+"/mirror")
		return now.problem() == "its certificate was not accepted"
	}, "a certificate of nobody is refused")
}

// Addresses of inner networks, and what is no address, are refused.
func TestMirrorAddresses(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.HookNetworks = nil })
	s.Users(t, "alice")
	s.Repo(t, "alice/copy", false)
	for _, address := range []string{"http://127.0.0.1/x", "http://localhost/x", "http://[::1]/x", "http://[::ffff:7f00:1]/x",
		"http://0x7f.1/x", "http://2130706433/x", "http://127.1/x", "http://a.0x1/x", "file:///etc",
		"ssh://127.0.0.1/x", "git@localhost:x", "git@[::1]:x", "ssh://git:secret@example.org/x", "ssh://-oProxyCommand=x/x", "ssh://example.org",
		"ssh://-x@example.org/x", "ssh://a%20b@example.org/x", "git@example.org:", "example.org:x", "ssh://example.org/a%0Ab", "git@127.0.0.1:x",
		"ext::sh", "https://alice:secret@example.org/x", "https://example.org/x?y", "https://%31%32%37.0.0.1/x", "https://a b/x",
		"https://example.org:/x", ""} {
		s.Run(t, []apitest.Case{
			{Name: address, Do: "PUT /repos/alice/copy/mirror", As: "alice", Send: `{"remote_url":"` + address + `"}`, Status: 422},
			{Name: address, Do: "POST /repos/alice/copy/push_mirrors", As: "alice", Send: `{"remote_url":"` + address + `"}`, Status: 422},
		})
	}
	s.Run(t, []apitest.Case{
		{Do: "PUT /repos/alice/copy/mirror", As: "alice", Send: `{"remote_url":"https://example.org/x","interval":60}`, Status: 422},
		{Do: "PUT /repos/alice/copy/mirror", As: "alice", Send: `{"remote_url":"https://example.org/x","interval":-5}`, Status: 422},
	})
}

package repos_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// gated is the address of a server behind another address, which answers nothing while it is shut.
type gated struct {
	URL     string
	mu      sync.Mutex
	opened  chan struct{} // nil: it is open
	waiting bool          // a request has come since it was shut
	asked   int           // requests since then
}

func newGated(t *testing.T, s *apitest.Server) *gated {
	t.Helper()
	to, err := url.Parse(s.URL)
	testkit.NoError(t, err)
	g := &gated{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		opened := g.opened
		g.waiting = true
		g.asked++
		g.mu.Unlock()
		if opened != nil {
			<-opened
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(g.open)
	g.URL = front.URL
	return g
}

func (g *gated) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened, g.waiting, g.asked = make(chan struct{}), false, 0
}

func (g *gated) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
	}
	g.opened = nil
}

// await waits for a request.
func (g *gated) await(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.waiting
	}, "a request comes")
}

// importState is what tests read of an import.
type importState struct {
	Status string
	Error  string `json:"error_message"`
	Report struct {
		Records  map[string]struct{ New, Changed, Unchanged, Failed int64 }
		Problems []string
	}
}

// ended waits until an import has ended.
func ended(t *testing.T, s *apitest.Server, as, name string) (j importState) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		j = importState{}
		s.Ask(t, as, "GET /repos/"+name+"/import", "", 200).JSON(t, &j)
		return j.Status == "complete" || j.Status == "error"
	}, "the import ends")
	return j
}

// sourceOf makes a repository of alice's in which bob, too, has written.
func sourceOf(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Ask(t, "alice", "POST /user/repos", `{"name":"garden","auto_init":true}`, 201)
	s.Ask(t, "alice", "POST /repos/alice/garden/issues", `{"title":"Snails","body":"In the lettuce, says @bob."}`, 201)
	s.Ask(t, "bob", "POST /repos/alice/garden/issues/1/comments", `{"body":"I saw them."}`, 201)
	s.Settle(t)
}

// whoWrote returns the authors of the first issue and of its first comment.
func whoWrote(t *testing.T, s *apitest.Server, as, name string) (issue, comment string) {
	t.Helper()
	var i struct{ User struct{ Login string } }
	var list []struct{ User struct{ Login string } }
	s.Ask(t, as, "GET /repos/"+name+"/issues/1", "", 200).JSON(t, &i)
	s.Ask(t, as, "GET /repos/"+name+"/issues/1/comments", "", 200).JSON(t, &list)
	if len(list) != 1 {
		t.Fatalf("%d comments", len(list))
	}
	return i.User.Login, list[0].User.Login
}

func body(address, token, more string) string {
	return fmt.Sprintf(`{"vcs_url":%q,"vcs_password":%q%s}`, address, token, more)
}

// A user imports a repository with its issues. Texts of others are theirs by name only, whoever has their login or
// verified address here; a site administrator says whose they are.
func TestImportByUsers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "alice", "bob", "carol")
		sourceOf(t, s)
		source := s.URL + "/alice/garden"
		host := account.HostName(strings.TrimPrefix(s.URL, "http://"))
		s.Repo(t, "carol/copy", false)
		s.Repo(t, "chief/copy", false)
		s.Repo(t, "chief/mapped", false)
		s.Ask(t, "carol", "PUT /repos/carol/copy/import", body(source, s.Token(t, "alice"), ""), 201)
		if j := ended(t, s, "carol", "carol/copy"); j.Status != "complete" || j.Report.Records["issues"].New != 1 ||
			j.Report.Records["comments"].New != 1 {
			t.Errorf("%+v", j)
		}
		// The token is alice's at the source, so what she wrote there is of the one who has it.
		if issue, comment := whoWrote(t, s, "carol", "carol/copy"); issue != "carol" || comment != "bob["+host+"]" {
			t.Errorf("by %s and %s", issue, comment)
		}
		s.Ask(t, "chief", "PUT /repos/chief/copy/import", body(source, s.Token(t, "alice"), ""), 201)
		ended(t, s, "chief", "chief/copy")
		if issue, _ := whoWrote(t, s, "chief", "chief/copy"); issue != "alice["+host+"]" {
			t.Errorf("a site administrator gets the texts of %s", issue)
		}
		s.Ask(t, "carol", "PUT /repos/carol/copy/import", body(source, "", `,"people":{"bob":"bob"}`), 403)
		s.Ask(t, "chief", "PUT /repos/chief/mapped/import", body(source, "", `,"people":{"bob":"bob"}`), 201)
		ended(t, s, "chief", "chief/mapped")
		if issue, comment := whoWrote(t, s, "chief", "chief/mapped"); issue != "alice["+host+"]" || comment != "bob" {
			t.Errorf("by %s and %s", issue, comment)
		}
		var list []struct {
			Name string
			From string `json:"remote_name"`
		}
		s.Ask(t, "chief", "GET /repos/chief/mapped/import/authors", "", 200).JSON(t, &list)
		if len(list) != 2 || list[0].Name != "bob" || list[1].From != "alice" {
			t.Errorf("%+v", list)
		}
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			left, err := db.QueryTexts(tx, `SELECT secret || people FROM import_jobs WHERE secret <> '' OR people <> ''`)
			if len(left) > 0 {
				t.Errorf("tokens stay: %d", len(left))
			}
			return err
		}))

		// Again, it brings what is new, until people work here.
		s.Ask(t, "alice", "POST /repos/alice/garden/issues", `{"title":"Slugs"}`, 201)
		s.Ask(t, "carol", "PATCH /repos/carol/copy/import", `{"vcs_password":"`+s.Token(t, "alice")+`"}`, 200)
		if j := ended(t, s, "carol", "carol/copy"); j.Report.Records["issues"].New != 1 || j.Report.Records["issues"].Unchanged != 1 {
			t.Errorf("%+v", j)
		}
		s.Ask(t, "carol", "POST /repos/carol/copy/issues", `{"title":"Ours"}`, 201)
		s.Ask(t, "carol", "PUT /repos/carol/copy/import", body(source, "", ""), 422)
		s.Ask(t, "alice", "PUT /repos/alice/garden/import", body(source, "", ""), 422)
		s.Ask(t, "carol", "DELETE /repos/carol/copy/import", "", 204)
		s.Ask(t, "carol", "GET /repos/carol/copy/import", "", 404)
		s.Ask(t, "carol", "DELETE /repos/carol/copy/import", "", 404)
		sound(t, s)
	})
}

// While an import runs, nobody changes the repository. It ends when it is cancelled, and when the one who asked
// for it has lost the right.
func TestImportsEnd(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "alice", "bob", "carol")
		sourceOf(t, s)
		g := newGated(t, s)
		source := g.URL + "/alice/garden"
		s.Repo(t, "carol/copy", false)
		s.Grant(t, s.Access(t, "carol", "carol/copy").Repo, "bob", account.Admin)
		const copied = "/repos/carol/copy"
		start := func(as string) {
			t.Helper()
			g.shut()
			s.Ask(t, as, "PUT "+copied+"/import", body(source, s.Token(t, "alice"), ""), 201)
			g.await(t)
		}
		start("carol")
		s.Run(t, []apitest.Case{
			{Do: "POST " + copied + "/issues", As: "bob", Send: `{"title":"Mine"}`, Status: 403},
			{Do: "POST " + copied + "/issues", As: "alice", Send: `{"title":"Mine"}`, Status: 403},
			{Do: "PUT " + copied + "/contents/a", As: "carol", Send: `{"message":"a","content":"YQ=="}`, Status: 403},
			{Do: "PUT " + copied + "/import", As: "carol", Send: body(source, "", ""), Status: 403},
			{Do: "GET " + copied + "/import", As: "bob", Status: 200, Want: `{"status":"importing"}`},
			{Do: "GET " + copied + "/import", As: "alice", Status: 403},
			{Do: "DELETE " + copied + "/import", As: "bob", Status: 204},
			{Do: "GET " + copied + "/import", As: "bob", Status: 200,
				Want: `{"status":"error","error_message":"bob cancelled the import."}`},
			{Do: "POST " + copied + "/issues", As: "alice", Send: `{"title":"Mine"}`, Status: 201},
		})
		g.open()
		s.Ask(t, "bob", "PUT "+copied+"/import", body(source, "", ""), 422) // people have worked in it

		s.Repo(t, "carol/second", true)
		s.Grant(t, s.Access(t, "carol", "carol/second").Repo, "bob", account.Admin)
		g.shut()
		s.Ask(t, "bob", "PUT /repos/carol/second/import", body(source, s.Token(t, "alice"), ""), 201)
		g.await(t)
		s.Ask(t, "chief", "PUT /users/bob/suspended", "", 204)
		g.open()
		if j := ended(t, s, "carol", "carol/second"); j.Error != "bob, who asked for the import, is no longer an administrator of the repository." {
			t.Errorf("%+v", j)
		}
		g.mu.Lock()
		if g.asked > 20 { // reading all takes twice as many
			t.Errorf("the source was still asked %d times", g.asked)
		}
		g.mu.Unlock()
		s.Ask(t, "carol", "GET /repos/carol/second/issues/1", "", 404)
		sound(t, s)
	})
}

// An import counts for the quota of the repository's owner, and goes on when there is room.
func TestImportsWithinQuota(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		sourceOf(t, s)
		s.Repo(t, "carol/copy", false)
		quota := func(kb int64) {
			t.Helper()
			_, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "carol", func(q *account.Quota) { q.KB = &kb })
			testkit.NoError(t, err)
		}
		quota(1)
		const copied = "/repos/carol/copy/import"
		s.Ask(t, "carol", "PUT "+copied, body(s.URL+"/alice/garden", s.Token(t, "alice"), ""), 201)
		if j := ended(t, s, "carol", "carol/copy"); j.Status != "error" || !strings.Contains(j.Error, "may take at most 1 KiB") {
			t.Errorf("%+v", j)
		}
		quota(account.Unbounded)
		s.Ask(t, "carol", "PATCH "+copied, `{"vcs_password":"`+s.Token(t, "alice")+`"}`, 200)
		if j := ended(t, s, "carol", "carol/copy"); j.Status != "complete" {
			t.Errorf("%+v", j)
		}
	})
}

// Addresses of inner networks, and what is no address of a repository, are refused; others are when they lead there.
func TestImportAddresses(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.HookNetworks = nil })
	s.Users(t, "alice")
	s.Repo(t, "alice/copy", false)
	for _, address := range []string{"http://127.0.0.1/a/x", "http://localhost/a/x", "http://[::1]/a/x", "http://0x7f.1/a/x",
		"http://2130706433/a/x", "http://127.1/a/x", "ssh://example.org/a/x", "file:///etc/passwd", "ext::sh",
		"https://alice:secret@example.org/a/x", "https://example.org/a/x?y", "https://example.org/a", "https://example.org", ""} {
		s.Check(t, apitest.Case{Name: address, Do: "PUT /repos/alice/copy/import", As: "alice", Send: body(address, "", ""), Status: 422})
	}
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/copy/import", As: "alice", Status: 422,
		Send: `{"vcs_url":"https://example.org/a/x","vcs":"subversion"}`})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/copy/import", As: "alice", Status: 422, Send: body("https://example.org/a/x", "a b", "")})
}

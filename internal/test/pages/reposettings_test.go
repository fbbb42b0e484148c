package pages_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// The short names of what the tests of this room do and expect all the time.
const reposettingsEvil = apitest.Markup

var (
	reposettingsSend  = apitest.SendForm
	reposettingsTook  = apitest.Taken
	reposettingsAgain = apitest.FormAgain
	reposettingsHas   = apitest.HasParts
)

// show gets a page.
func reposettingsShow(t *testing.T, s *apitest.Server, as, path string, parts ...string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "GET " + path, As: as, Headers: map[string]string{"Accept": "text/html"},
		Status: 200})
	reposettingsHas(t, string(a.Body), parts...)
	return string(a.Body)
}

// garden creates a repository of alice with push access for sam and a branch.
func garden(t *testing.T, s *apitest.Server) {
	for _, login := range []string{"alice", "sam", "stranger", "keeper"} {
		if login == "keeper" {
			s.Admin(t, login)
		} else {
			s.User(t, login)
		}
	}
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "sam", account.Push)
	for _, file := range []string{"main", "dev"} {
		body := `{"message": "x", "content": "eA==", "branch": "main"}`
		if file == "main" {
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + file, As: "alice", Send: body,
				Status: 201})
			continue
		}
		var ref struct{ Object struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/heads/main", Status: 200}).JSON(t, &ref)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"ref": "refs/heads/dev", "sha": %q}`, ref.Object.SHA)})
	}
}

// Settings are changed, and errors are shown next to the typed values.
func TestGeneral(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings"
		reposettingsShow(t, s, "alice", at, `value="garden"`, `<option value="dev">`, "Danger zone")
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "details", "name", "garden", "description", reposettingsEvil, "homepage",
			"https://example.org", "default_branch", "dev", "has_issues", "1"), at)
		reposettingsShow(t, s, "alice", at, "onerror=alert(1)&gt;", `value="dev"`)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"default_branch": "dev", "homepage": "https://example.org", "has_issues": true}`})
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "details", "name", "garden", "description", "kept",
			"default_branch", "nothing"),
			422, `value="kept"`, `value="nothing"`, "was not found")
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "details", "name", "not/a name", "default_branch", "dev"), 422,
			`value="not/a name"`)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "topics", "topics", "plants, roses"), at)
		reposettingsShow(t, s, "alice", at, `value="plants roses"`)
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "topics", "topics", "No_Topic"), 422, `value="No_Topic"`)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "merging", "allow_squash_merge", "1",
			"delete_branch_on_merge", "1", "merge_commit_title", "PR_TITLE", "merge_commit_message", "BLANK",
			"squash_merge_commit_title", "PR_TITLE",
			"squash_merge_commit_message", "PR_BODY"), at)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"allow_merge_commit": false,
			"allow_squash_merge": true, "allow_rebase_merge": false, "delete_branch_on_merge": true,
			"merge_commit_title": "PR_TITLE", "merge_commit_message": "BLANK", "squash_merge_commit_message": "PR_BODY"}`})
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "merging", "merge_commit_title", "PR_TITLE",
			"merge_commit_message", "BLANK", "squash_merge_commit_title", "PR_TITLE",
			"squash_merge_commit_message", "PR_BODY"), 422, "at least one merge strategy")
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "details", "name", "orchard", "default_branch", "dev"),
			"/alice/orchard/settings")
	})
}

// Each page and form is for who administrates the repository: others learn no more of it than the API tells
// them.
func TestReposettingsRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Repo(t, "alice/cellar", true)
		html := map[string]string{"Accept": "text/html"}
		pages := []string{"", "/access", "/keys", "/hooks", "/hooks/new", "/installations", "/visibility",
			"/archive", "/transfer", "/delete"}
		for _, page := range pages {
			public, hidden := "GET /alice/garden/settings"+page, "GET /alice/cellar/settings"+page
			s.Check(t, apitest.Case{Do: public, Headers: html, Status: 303,
				Has: map[string]string{"Location": "/login?return_to=" +
					url.QueryEscape("/alice/garden/settings"+page)}})
			for _, who := range []string{"sam", "stranger"} {
				s.Check(t, apitest.Case{Do: public, As: who, Headers: html, Status: 403})
				s.Check(t, apitest.Case{Do: hidden, As: who, Headers: html, Status: 404})
			}
			s.Check(t, apitest.Case{Do: hidden, Headers: html, Status: 404})
			s.Check(t, apitest.Case{Do: public, As: "keeper", Headers: html, Status: 200})
			if page == "/installations" {
				continue
			}
			to := "/alice/garden/settings" + strings.TrimSuffix(page, "/new")
			if page == "/hooks" || page == "/hooks/new" {
				to = "/alice/garden/settings/hooks/new"
			}
			for _, who := range []string{"sam", "stranger"} {
				if a := reposettingsSend(t, s, who, to, "confirm", "alice/garden", "login", "stranger", "role", "admin",
					"new_owner", who, "archived", "1", "private", "1"); a.Status != 403 {
					t.Errorf("POST %s as %s: %d", to, who, a.Status)
				}
			}
			if a := reposettingsSend(t, s, "", to, "confirm", "alice/garden"); a.Status != 303 ||
				!strings.HasPrefix(a.Header.Get("Location"), "/login") {
				t.Errorf("POST %s as nobody: %d", to, a.Status)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"archived": false, "private": false, "owner": {"login": "alice"}}`})
		// A token that opens the page does no more by it than by the API.
		limited := map[string]string{"Authorization": "Bearer " + s.Scoped(t, "alice", "public_repo"),
			"Accept":       "text/html",
			"Content-Type": "application/x-www-form-urlencoded"}
		s.Check(t, apitest.Case{Do: "POST /alice/garden/settings/delete", Headers: limited,
			Send: "confirm=alice%2Fgarden", Status: 403})
		s.Check(t, apitest.Case{Do: "GET /alice/cellar/settings", Headers: limited, Status: 404})
		s.Check(t, apitest.Case{Do: "GET /alice/garden/settings/hooks", Headers: limited, Status: 403})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200})
	})
}

// Collaborators come and go, each with a row in the audit log.
func TestAccess(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings/access"
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "add", "login", "@stranger", "role", "admin"), at)
		reposettingsShow(t, s, "alice", at, `href="/stranger"`, `href="/sam"`, "admin</span>")
		reposettingsShow(t, s, "stranger", at)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "role", "login", "sam", "role", "pull"), at)
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "add", "login", reposettingsEvil, "role", "push"), 422,
			"There is nobody with the login", "onerror=alert(1)&gt;")
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "add", "login", "alice", "role", "push"), 422,
			"owner cannot be a collaborator")
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "add", "login", "sam", "role", "king"), 422)
		reposettingsTook(t, reposettingsSend(t, s, "stranger", at, "do", "remove", "login", "Stranger"), "/alice/garden")
		s.Check(t, apitest.Case{Do: "GET " + at, As: "stranger",
			Headers: map[string]string{"Accept": "text/html"}, Status: 403})
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:repo", As: "keeper",
			Status: 200})
		reposettingsHas(t, string(log.Body), `"action":"repo.add_member","actor":"alice"`,
			`"action":"repo.update_member","actor":"alice"`,
			`"action":"repo.remove_member","actor":"stranger"`)
	})
}

// Deploy keys are added, shown by their fingerprints, and removed.
func TestDeployKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings/keys"
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "add", "title", reposettingsEvil, "key", testkit.PublicKey(t)),
			at)
		body := reposettingsShow(t, s, "alice", at, "Read only", "SHA256:", "added", "never used")
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "add", "title", "kept", "key", "no key", "write", "1"), 422,
			`value="kept"`, "no key</textarea>", `value="1" checked`)
		id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "remove", "id", id[1]), at)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at, "do", "remove", "id", id[1]), at)
		reposettingsShow(t, s, "alice", at, "There are none.")
	})
}

// A webhook is added, told of something, looked at, sent again, changed and removed; its secret is never
// shown.
func TestHooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		told := make(chan string, 20)
		to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			told <- r.Header.Get("X-GitHub-Event") + " " + string(body[:min(len(body), 20)])
			io.WriteString(w, reposettingsEvil)
		}))
		t.Cleanup(to.Close)
		ctx := t.Context()
		go s.Server.Run(ctx)
		const at = "/alice/garden/settings/hooks"
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at+"/new", "url", "ftp://"+reposettingsEvil, "which", "some", "events", "issues",
			"active", "1", "content_type", "json"),
			422, "must be an address that begins with", `value="issues" checked`)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at+"/new", "url", to.URL, "secret", "very secret", "which", "push",
			"active", "1", "content_type", "json"), at)
		if got := <-told; !strings.HasPrefix(got, "ping ") {
			t.Errorf("told %q", got)
		}
		list := reposettingsShow(t, s, "alice", at, to.URL, "push")
		one := at + "/" + regexp.MustCompile(at + `/(\d+)"`).FindStringSubmatch(list)[1]
		body := reposettingsShow(t, s, "alice", one, "A secret is set", `value="push" checked`)
		if strings.Contains(body, "very secret") || strings.Contains(body, "****") {
			t.Error("it shows the secret")
		}
		reposettingsTook(t, reposettingsSend(t, s, "alice", one, "do", "save", "url", to.URL, "which", "some", "events", "issues",
			"events", "push", "active", "1", "content_type", "json"), one)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200,
			Want: `[{"events": ["issues", "push"], "active": true, "config": {"secret": "********"}}]`})
		reposettingsTook(t, reposettingsSend(t, s, "alice", one, "do", "test"), one)
		if got := <-told; !strings.HasPrefix(got, "push ") {
			t.Errorf("told %q", got)
		}
		var delivery string
		for delivery == "" {
			if m := regexp.MustCompile(`(/deliveries/\d+)">push<`).FindStringSubmatch(reposettingsShow(t, s, "alice",
				one)); m != nil {
				delivery = one + m[1]
			}
		}
		reposettingsShow(t, s, "alice", delivery, "X-GitHub-Event", "&#34;ref&#34;: &#34;refs/heads/main&#34;",
			"onerror=alert(1)&gt;", "200")
		reposettingsTook(t, reposettingsSend(t, s, "alice", delivery), one)
		if got := <-told; !strings.HasPrefix(got, "push ") {
			t.Errorf("told %q", got)
		}
		reposettingsTook(t, reposettingsSend(t, s, "alice", one, "do", "save", "url", to.URL, "which", "all", "no_secret", "1",
			"content_type", "form"), one)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200,
			Want: `[{"events": ["*"], "active": false, "config": {"secret": "$absent", "content_type": "form"}}]`})
		reposettingsTook(t, reposettingsSend(t, s, "alice", one, "do", "remove"), at)
		s.Check(t, apitest.Case{Do: "GET " + one, As: "alice",
			Headers: map[string]string{"Accept": "text/html"}, Status: 404})
	})
}

// What matters happens only with the full name, and then all of it.
func TestDanger(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Org(t, "guild", "alice")
		const at = "/alice/garden/settings"
		for _, page := range []string{"/visibility", "/archive", "/transfer", "/delete"} {
			reposettingsShow(t, s, "alice", at+page, "Type <code><bdi>alice/garden</bdi></code> to confirm")
			reposettingsAgain(t, reposettingsSend(t, s, "alice", at+page, "confirm", reposettingsEvil, "private", "1", "archived", "1",
				"new_owner", "guild"), 422,
				"Nothing was done", "onerror=alert(1)&gt;")
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"archived": false, "private": false}`})
		reposettingsTook(t, reposettingsSend(t, s, "alice", at+"/archive", "confirm", "alice/garden", "archived", "1"), at)
		reposettingsShow(t, s, "alice", at, "This repository is archived", "<fieldset class=\"bare\" disabled>")
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at, "do", "details", "name", "x", "default_branch", "main"),
			403, "archived")
		reposettingsTook(t, reposettingsSend(t, s, "alice", at+"/archive", "confirm", "alice/garden", "archived", "0"), at)
		reposettingsTook(t, reposettingsSend(t, s, "alice", at+"/visibility", "confirm", "alice/garden", "private", "1"),
			at)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 404})
		reposettingsAgain(t, reposettingsSend(t, s, "alice", at+"/transfer", "confirm", "alice/garden", "new_owner", "sam"), 422,
			`value="sam"`, "Only a site administrator")
		reposettingsTook(t, reposettingsSend(t, s, "alice", at+"/transfer", "confirm", "alice/garden", "new_owner", "guild",
			"new_name", "park"), "/guild/park")
		reposettingsTook(t, reposettingsSend(t, s, "alice", "/guild/park/settings/delete", "confirm", "guild/park"), "/guild")
		s.Check(t, apitest.Case{Do: "GET /repos/guild/park", As: "alice", Status: 404})
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:alice", As: "keeper",
			Status: 200})
		reposettingsHas(t, string(log.Body), `"repo.archived"`, `"repo.unarchived"`, `"repo.access"`, `"repo.transfer"`,
			`"repo.destroy"`)
	})
}

// A page costs few queries, and no more for many rows: nobody waits longer for a repository that many know.
func TestFewQueries(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var ran atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(ctx context.Context, _ string) {
					if web.From(ctx).ID != "" {
						ran.Add(1)
					}
				}})
		})
		garden(t, s)
		reposettingsTook(t, reposettingsSend(t, s, "alice", "/alice/garden/settings/hooks/new", "url", "https://example.org/1",
			"which", "push", "active", "1", "content_type", "json"), "/alice/garden/settings/hooks")
		var hooks []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200}).JSON(t,
			&hooks)
		paths := []string{"/alice/garden/settings", "/alice/garden/settings/access",
			"/alice/garden/settings/keys", "/alice/garden/settings/hooks",
			fmt.Sprint("/alice/garden/settings/hooks/", hooks[0].ID),
			"/alice/garden/settings/installations", "/alice/garden/settings/delete", "/settings/profile",
			"/settings/emails",
			"/settings/keys", "/settings/sessions", "/settings/tokens",
			"/settings/tokens/new?kind=repositories", "/settings/watching",
			"/settings/installations", "/settings/apps"}
		site := []string{"/site/people", "/site/people/alice", "/site/organizations", "/site/repositories",
			"/site/audit", "/site/jobs"}
		count := func() map[string]int64 {
			n := map[string]int64{}
			for _, path := range append(slices.Clone(paths), site...) {
				as := "alice"
				if strings.HasPrefix(path, "/site") {
					as = "keeper"
				}
				reposettingsShow(t, s, as, path) // what is kept after the first time is kept
				n[path] = 1 << 30
				for range 3 { // on a busy machine less is kept for long enough
					ran.Store(0)
					reposettingsShow(t, s, as, path)
					n[path] = min(n[path], ran.Load())
				}
				if n[path] > 20 {
					t.Errorf("%s runs %d statements", path, n[path])
				}
			}
			return n
		}
		before := count()
		for n := range 5 {
			login := fmt.Sprint("person", n)
			s.User(t, login)
			s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, login, account.Pull)
			s.Repo(t, fmt.Sprint("alice/more", n), false)
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/more" + fmt.Sprint(n) + "/subscription",
				As: "alice", Send: `{"subscribed": true}`, Status: 200})
			reposettingsTook(t, reposettingsSend(t, s, "alice", "/settings/keys", "title", "x", "key", testkit.PublicKey(t)),
				"/settings/keys")
			reposettingsTook(t, reposettingsSend(t, s, "alice", "/settings/emails", "email", login+"@example.com"),
				"/settings/emails")
			reposettingsTook(t, reposettingsSend(t, s, "alice", "/alice/garden/settings/keys", "title", "x", "key",
				testkit.PublicKey(t)), "/alice/garden/settings/keys")
			if _, _, err := s.Forge.Tokens.CreateToken(t.Context(),
				token.NewToken{Login: "alice", Repos: []int64{1}}); err != nil {
				t.Fatal(err)
			}
		}
		for path, n := range count() {
			if n > before[path]+2 { // a list that was empty needs not ask what its rows refer to
				t.Errorf("%s ran %d statements, and %d with more to show", path, before[path], n)
			}
		}
	})
}

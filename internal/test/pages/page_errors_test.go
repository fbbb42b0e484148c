package pages_test

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// browse sends a browser's request with a session, or without one if it is empty.
func browse(t *testing.T, s *apitest.Server, session, do string, headers ...string) *apitest.Answer {
	t.Helper()
	c := apitest.Case{Do: do, Headers: maps.Clone(inBrowser)}
	if session != "" {
		c.Headers["Cookie"] = "arbor_session=" + session
	}
	if strings.HasPrefix(do, "POST") {
		c.Headers["Content-Type"], c.Headers["Origin"] = "application/x-www-form-urlencoded", s.URL
	}
	for n := 0; n+1 < len(headers); n += 2 {
		c.Headers[headers[n]] = headers[n+1]
	}
	return s.Do(t, c)
}

// Somebody who is signed in and meets an error sees that they are still signed in, and within a repository
// that they see its head and tabs.
func TestErrorsKnowTheirCaller(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "stranger")
		s.Repo(t, "alice/garden", false)
		cellar := s.Repo(t, "alice/cellar", true)
		s.Grant(t, cellar, "bob", account.Pull)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/cellar", As: "bob", Status: 204})
		sessions := map[string]string{"": ""}
		for _, login := range []string{"alice", "bob", "stranger"} {
			sessions[login] = s.Session(t, login)
		}
		for _, c := range []struct {
			as, do, tab string // the tab that is open; "-": no repository is named
			status      int
		}{
			{"alice", "GET /site/people", "-", 404},
			{"alice", "GET /nobody", "-", 404},
			{"alice", "GET /alice/nothing", "-", 404},
			{"alice", "GET /alice/nothing/issues/1", "-", 404},
			{"alice", "GET /settings/nothing", "-", 404},
			{"alice", "GET /settings/installations/7", "-", 404},
			{"alice", "GET /orgs/nobody/settings", "-", 404},
			{"alice", "GET /dashboard/notifications/7", "-", 404},
			{"alice", "GET /a/b/c/d/e", "-", 404},
			{"alice", "PUT /settings/profile", "-", 405},
			{"alice", "GET /alice/garden/issues", "issues", 410},
			{"alice", "GET /alice/garden/pull/7", "pulls", 404},
			{"alice", "GET /alice/garden/pull/x", "pulls", 404},
			{"alice", "GET /alice/garden/blob/main/nothing", "code", 404},
			{"alice", "GET /alice/garden/releases/tag/nothing", "releases", 404},
			{"alice", "GET /alice/garden/nothing", "code", 404},
			{"alice", "GET /alice/garden/settings/nothing/at/all", "settings", 404},
			{"bob", "GET /alice/garden/settings", "settings", 403},
			{"bob", "POST /alice/garden/labels", "issues", 403},
			{"bob", "GET /alice/cellar/issues/7", "issues", 404},
			{"bob", "GET /alice/cellar/nothing", "code", 404},
			{"stranger", "GET /alice/cellar/issues/7", "-", 404},
			{"stranger", "GET /alice/cellar/nothing", "-", 404},
			{"", "GET /alice/garden/pull/7", "pulls", 404},
			{"", "GET /alice/cellar/issues/7", "-", 404},
		} {
			a := browse(t, s, sessions[c.as], c.do)
			a.Harmless(t, c.do)
			want := []string{"Sign in"}
			if c.as != "" {
				want = []string{`aria-label="Account of ` + c.as + `"`, "Sign out", "!Sign in", "!Explore |"}
			}
			if c.tab == "-" {
				want = append(want, `!class="repohead"`)
			} else {
				want = append(want, `class="repohead"`, ">Pull requests<")
			}
			a.Shows(t, c.status, want...)
			tab := regexp.MustCompile(`href="/alice/(?:garden|cellar)/?(\w*)" aria-current="page"`).
				FindSubmatch(a.Body)
			if hidden := c.tab == "issues" && strings.Contains(c.do, "garden") ||
				c.tab == "settings" && c.as == "bob"; c.tab != "-" && !hidden &&
				(tab == nil || string(tab[1]) != strings.TrimPrefix(c.tab, "code")) {
				t.Errorf("%s as %q: the open tab is %q, want %s", c.do, c.as, tab, c.tab)
			}
			if cache := a.Header.Get("Cache-Control"); c.as != "" && !strings.HasPrefix(cache, "private") {
				t.Errorf("%s as %q: Cache-Control: %s", c.do, c.as, cache)
			}
			if t.Failed() {
				t.Fatalf("%s as %q", c.do, c.as)
			}
		}
		// The head shows the viewer's star.
		browse(t, s, sessions["bob"], "GET /alice/cellar/issues/7").Shows(t, 404, "Starred", "Private")
		// A form of another site is refused, and nobody is signed out by it.
		browse(t, s, sessions["alice"], "POST /alice/garden/star", "Origin", "https://evil.example",
			"Sec-Fetch-Site", "cross-site").Shows(t, 403, "sent from another site", "Account of alice")
		// Somebody whose session has ended is shown where to sign in.
		browse(t, s, "worthless", "GET /alice/cellar/issues/7").Shows(t, 404, "Sign in")
	})
}

// A failing server does not tell users that they are signed out, whether it knows the user or not.
func TestErrorsOfTheServer(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	s.Log.AllowErrors()
	session := s.Session(t, "alice")
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`ALTER TABLE releases RENAME TO lost`)
		return err
	})
	testkit.NoError(t, err)
	browse(t, s, session, "GET /alice/garden/releases").Shows(t, 500, `class="repohead"`, "Account of alice",
		`href="/alice/garden/releases" aria-current="page"`, "!Sign in", "!Star")

	testkit.NoError(t, s.DB.Close())
	a := browse(t, s, session, "GET /settings/profile")
	a.Shows(t, a.Status, "!Sign in")
	if a.Status < 500 {
		t.Errorf("without a database: %d", a.Status)
	}
}

// Every address below a private repository answers a stranger with the same bytes as below a repository that
// does not exist.
func TestErrorsHideRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "stranger")
		s.Repo(t, "alice/cellar", true)
		session := s.Session(t, "stranger")
		placeholder := regexp.MustCompile(`\{[^}]*\}`)
		addresses := []string{"GET /{owner}/{repo}/nothing", "GET /{owner}/{repo}/no/thing",
			"POST /{owner}/{repo}/nothing", "PUT /{owner}/{repo}/nothing"}
		for _, r := range s.Server.Routes() {
			if r.Group == route.Pages && strings.HasPrefix(r.Pattern, "/{owner}/{repo}") {
				addresses = append(addresses, r.Method+" "+r.Pattern, "PUT "+r.Pattern)
			}
		}
		for _, address := range addresses {
			path := strings.NewReplacer("{owner}", "alice", "{repo}", "cellar").Replace(address)
			path = placeholder.ReplaceAllString(path, "1")
			for _, session := range []string{session, ""} {
				private := browse(t, s, session, path)
				absent := browse(t, s, session, strings.Replace(path, "cellar", "nowher", 1))
				told := strings.ReplaceAll(string(absent.Body), "nowher", "cellar")
				if session != "" {
					told = string(absent.Body) // it has no part of the address
				}
				if private.Status != absent.Status || string(private.Body) != told ||
					headersOf(private) != headersOf(absent) {
					t.Errorf("%s: %d %s\n%s\n%s", path, private.Status, headersOf(private), private.Body,
						absent.Body)
				}
			}
		}
	})
}

// headersOf are the headers of an answer but those that differ by the time and the request.
func headersOf(a *apitest.Answer) string {
	var b strings.Builder
	h := a.Header.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "X-Github-Request-Id", "X-Ratelimit-Remaining", "X-Ratelimit-Used",
		"X-Ratelimit-Reset", "Location"} {
		h.Del(name)
	}
	_ = h.Write(&b)
	return b.String()
}

// With --require-token, a page that does not exist is a 404 for people who are signed in, and no redirect.
func TestErrorsWhereEverybodySignsIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.RequireToken = true })
	s.User(t, "alice")
	session := s.Session(t, "alice")
	for _, do := range []string{"GET /a/b/c/d", "GET /settings/nothing", "PUT /settings/profile"} {
		a := browse(t, s, session, do)
		a.Shows(t, a.Status, "Account of alice", "!Sign in")
		for _, session := range []string{"", "worthless"} {
			if a := browse(t, s, session, do); a.Status != http.StatusSeeOther && a.Status != 401 {
				t.Errorf("%s with the session %q: %d", do, session, a.Status)
			}
		}
	}
}

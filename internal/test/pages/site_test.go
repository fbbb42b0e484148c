package pages_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/test/apitest"
)

// The short names of what the tests of this room do and expect all the time.
const siteEvil = apitest.Markup

var (
	siteSend  = apitest.SendForm
	siteTook  = apitest.Taken
	siteAgain = apitest.FormAgain
	siteHas   = apitest.HasParts
)

var siteHtml = map[string]string{"Accept": "text/html"}

func siteShow(t *testing.T, s *apitest.Server, path string, parts ...string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "GET " + path, As: "keeper", Headers: siteHtml, Status: 200})
	siteHas(t, string(a.Body), parts...)
	return string(a.Body)
}

// To all but site administrators these pages do not exist, from the moment on at which they stop being one.
func TestOnlyForAdministrators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Admin(t, "keeper")
		s.Admin(t, "other")
		limited := map[string]string{"Accept": "text/html",
			"Authorization": "Bearer " + s.Scoped(t, "keeper", "site_admin, repo")}
		pages := []string{"/site/people", "/site/people/new", "/site/people/alice", "/site/organizations",
			"/site/organizations/new", "/site/repositories", "/site/audit", "/site/jobs", "/site/health"}
		for _, page := range pages {
			siteShow(t, s, page)
			s.Check(t, apitest.Case{Do: "GET " + page, As: "alice", Headers: siteHtml, Status: 404})
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: siteHtml, Status: 303})
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: limited, Status: 403})
		}
		forms := []string{"/site/people/new", "/site/people/alice", "/site/organizations/new",
			"/site/repositories"}
		for _, form := range forms {
			if a := siteSend(t, s, "alice", form, "do", "promote", "login", "x"); a.Status != 404 {
				t.Errorf("POST %s: %d", form, a.Status)
			}
		}
		session := map[string]string{"Accept": "text/html",
			"Cookie":       session.Cookie + "=" + s.Session(t, "keeper"),
			"Content-Type": "application/x-www-form-urlencoded"}
		s.Check(t, apitest.Case{Do: "GET /site/people", Headers: session, Status: 200})
		if _, err := s.Accounts.Demote(t.Context(), nil, "keeper"); err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Do: "GET /site/people", Headers: session, Status: 404})
		s.Check(t, apitest.Case{Do: "POST /site/people/alice", Headers: session, Send: "do=password",
			Status: 404})
	})
}

var once = regexp.MustCompile(`id="once" value="(\w+)"`)

// People are found, made, suspended, promoted, renamed, bounded and deleted, each with its row in the log.
func TestPeople(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		s.User(t, "alice")
		s.Check(t, apitest.Case{Do: "PATCH /user", As: "alice",
			Send: `{"name": "Ash \"><script>alert(2)</script>"}`, Status: 200})
		siteAgain(t, siteSend(t, s, "keeper", "/site/people/new", "login", "no login!", "with", "password", "admin",
			"1"), 422, `value="no login!"`, `value="1" checked`)
		siteAgain(t, siteSend(t, s, "keeper", "/site/people/new", "login", "Alice", "email", "a@example.com", "with",
			"token"), 422, "taken", `value="a@example.com"`)
		made := siteSend(t, s, "keeper", "/site/people/new", "login", "bob", "email", "bob@example.com",
			"with", "password")
		if made.Status != 200 || made.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %s", made.Status, made.Header, made.Body)
		}
		password := once.FindStringSubmatch(string(made.Body))[1]
		if _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err != nil {
			t.Errorf("the starting password: %v", err)
		}
		token := once.FindStringSubmatch(string(siteSend(t, s, "keeper", "/site/people/new", "login", "carol",
			"with", "token").Body))[1]
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200,
			Want: `{"login": "carol"}`, Has: map[string]string{"X-OAuth-Scopes": "repo, read:org, plants"}})
		body := siteShow(t, s, "/site/people", "alice", "bob", "carol", "Site administrator")
		if strings.Contains(body, password) || strings.Contains(siteShow(t, s, "/site/people/bob"), password) {
			t.Error("the password is shown again")
		}
		if body := siteShow(t, s, "/site/people?q=ASH", "alice"); strings.Contains(body, "carol") {
			t.Error("the search finds everybody")
		}
		siteShow(t, s, "/site/people?q=%25", "Nobody.")
		siteShow(t, s, "/site/people?q=%ff%00&after=%00")
		if body := siteShow(t, s, "/site/people?after=alice", "bob"); strings.Contains(body, ">alice<") {
			t.Error("the list does not go on")
		}

		at := "/site/people/bob"
		siteTook(t, siteSend(t, s, "keeper", at, "do", "suspend"), at)
		siteShow(t, s, at, "Suspended")
		if _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err == nil {
			t.Error("somebody suspended signs in")
		}
		siteTook(t, siteSend(t, s, "keeper", at, "do", "unsuspend"), at)
		siteTook(t, siteSend(t, s, "keeper", at, "do", "promote"), at)
		siteShow(t, s, at, "Site administrator")
		siteTook(t, siteSend(t, s, "keeper", at, "do", "demote"), at)
		next := once.FindStringSubmatch(string(siteSend(t, s, "keeper", at, "do", "password").Body))[1]
		if _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err == nil ||
			next == password {
			t.Error("the old password counts")
		}
		siteTook(t, siteSend(t, s, "keeper", at, "do", "quota", "repos", "3", "mib", "none", "text", "7"), at)
		siteShow(t, s, at, `value="3"`, `value="none"`, `value="7"`)
		siteAgain(t, siteSend(t, s, "keeper", at, "do", "quota", "repos", "-1", "mib", siteEvil), 422, `value="-1"`,
			"invalid limit", "onerror=alert(1)&gt;")
		siteTook(t, siteSend(t, s, "keeper", at, "do", "quota", "repos", "", "mib", ""), at)
		siteAgain(t, siteSend(t, s, "keeper", at, "do", "rename", "login", "alice"), 422, "taken")
		siteTook(t, siteSend(t, s, "keeper", at, "do", "rename", "login", "robert"), "/site/people/robert")
		at = "/site/people/robert"
		siteAgain(t, siteSend(t, s, "keeper", at, "do", "delete", "confirm", "bob"), 422, "Nothing was done",
			`value="bob"`)
		siteAgain(t, siteSend(t, s, "keeper", at, "do", "nothing"), 400)
		siteTook(t, siteSend(t, s, "keeper", at, "do", "delete", "confirm", "robert"), "/site/people")
		s.Check(t, apitest.Case{Do: "GET " + at, As: "keeper", Headers: siteHtml, Status: 404})
		siteShow(t, s, "/site/people/keeper", "This is you")
		for _, do := range []string{"suspend", "demote"} {
			siteAgain(t, siteSend(t, s, "keeper", "/site/people/keeper", "do", do), 403, "yourself")
		}
		siteAgain(t, siteSend(t, s, "keeper", "/site/people/keeper", "do", "delete", "confirm", "keeper"), 403,
			"You cannot delete yourself")

		log := siteShow(t, s, "/site/audit?phrase=actor:keeper", "user.create", "user.suspend", "user.unsuspend",
			"user.promote", "user.demote", "user.change_password", "personal_access_token.create",
			"user.rename", "user.delete", "user.update", "site admin")
		if strings.Contains(log, password) || strings.Contains(log, token) {
			t.Error("the log has a secret")
		}
	})
}

// Organizations are made, bounded, renamed and deleted; a person is none.
func TestOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		s.User(t, "alice")
		siteAgain(t, siteSend(t, s, "keeper", "/site/organizations/new", "login", "guild", "owner", siteEvil), 422,
			`value="guild"`, "onerror=alert(1)&gt;")
		siteTook(t, siteSend(t, s, "keeper", "/site/organizations/new", "login", "guild", "owner", "alice", "name",
			siteEvil), "/site/organizations/guild")
		at := "/site/organizations/guild"
		siteShow(t, s, at, "alice", "1 member", "onerror=alert(1)&gt;")
		siteShow(t, s, "/site/organizations?q=gui", "guild")
		s.Check(t, apitest.Case{Do: "GET /site/organizations/alice", As: "keeper", Headers: siteHtml,
			Status: 404})
		s.Check(t, apitest.Case{Do: "GET /site/people/guild", As: "keeper", Headers: siteHtml, Status: 404})
		siteTook(t, siteSend(t, s, "keeper", at, "do", "quota", "repos", "5", "mib", "100"), at)
		siteShow(t, s, at, `value="5"`, `value="100"`)
		siteTook(t, siteSend(t, s, "keeper", at, "do", "rename", "login", "union"),
			"/site/organizations/union")
		r := s.Repo(t, "union/park", false)
		_ = r
		siteAgain(t, siteSend(t, s, "keeper", "/site/organizations/union", "do", "delete", "confirm", "union"), 422,
			"owns repositories")
		s.Check(t, apitest.Case{Do: "DELETE /repos/union/park", As: "keeper", Status: 204})
		siteTook(t, siteSend(t, s, "keeper", "/site/organizations/union", "do", "delete", "confirm", "union"),
			"/site/organizations")
		siteShow(t, s, "/site/audit?phrase=action:org", "org.create", "org.update", "org.rename", "org.delete")
	})
}

// All repositories are found, also private ones, archived, and forks given back.
func TestRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/diary", true)
		siteShow(t, s, "/site/repositories", "alice/garden", "alice/diary", "Private")
		if body := siteShow(t, s, "/site/repositories?q=diary", "alice/diary"); strings.Contains(body,
			"alice/garden") {
			t.Error("the search finds all")
		}
		siteShow(t, s, "/site/repositories?q=size:"+url.QueryEscape(siteEvil))
		siteTook(t, siteSend(t, s, "keeper", "/site/repositories", "do", "archive", "repo", "alice/diary"),
			"/site/repositories")
		siteShow(t, s, "/site/repositories?q=archived:true", "alice/diary", "Unarchive")
		siteTook(t, siteSend(t, s, "keeper", "/site/repositories", "do", "unarchive", "repo", "alice/diary"),
			"/site/repositories")
		siteAgain(t, siteSend(t, s, "keeper", "/site/repositories", "do", "back", "repo", "alice/garden"), 422,
			"whose root was deleted", `value="alice/garden"`)
		siteAgain(t, siteSend(t, s, "keeper", "/site/repositories", "do", "back", "repo", siteEvil), 422,
			"not found", "onerror=alert(1)&gt;")
		siteShow(t, s, "/site/audit?phrase=repo:alice/diary", "repo.archived", "repo.unarchived")
	})
}

// The log can be searched and read on; jobs and health are shown.
func TestWatching(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "keeper")
		for n := range 60 {
			s.User(t, "person"+string(rune('a'+n%26))+string(rune('a'+n/26)))
		}
		body := siteShow(t, s, "/site/audit?phrase=action:user.create", "user.create", `rel="next"`)
		older := regexp.MustCompile(`href="(\?[^"]+)" rel="next"`).FindStringSubmatch(body)[1]
		siteShow(t, s, "/site/audit"+strings.ReplaceAll(older, "&amp;", "&"), "user.create",
			`rel="prev"`, "keeper")
		siteAgain(t, s.Do(t, apitest.Case{Do: "GET /site/audit?phrase=" + url.QueryEscape(siteEvil), As: "keeper",
			Headers: siteHtml}), 422, "onerror=alert(1)&gt;")
		siteShow(t, s, "/site/jobs", "Deliveries to webhooks", "test_merge")
		siteShow(t, s, "/site/health", "database", "schema", "space", "git version",
			"no backup yet")
		if next := siteShow(t, s, "/site/people", `rel="next"`); strings.Count(next, "<tr>") > 52 {
			t.Error("the list is not cut")
		}
	})
}

package pages_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/test/apitest"
)

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
			show(t, s, "keeper", page)
			s.Check(t, apitest.Case{Do: "GET " + page, As: "alice", Headers: inBrowser, Status: 404})
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: inBrowser, Status: 303})
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: limited, Status: 403})
		}
		forms := []string{"/site/people/new", "/site/people/alice", "/site/organizations/new",
			"/site/repositories"}
		for _, form := range forms {
			s.Visit(t, "alice", "POST "+form, "do", "promote", "login", "x").Shows(t, 404)
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
		s.Visit(t, "keeper", "POST /site/people/new", "login", "no login!", "with", "password", "admin",
			"1").Shows(t, 422, `value="no login!"`, `value="1" checked`)
		s.Visit(t, "keeper", "POST /site/people/new", "login", "Alice", "email", "a@example.com", "with",
			"token").Shows(t, 422, "taken", `value="a@example.com"`)
		made := s.Visit(t, "keeper", "POST /site/people/new", "login", "bob", "email", "bob@example.com",
			"with", "password")
		if made.Status != 200 || made.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %s", made.Status, made.Header, made.Body)
		}
		password := once.FindStringSubmatch(string(made.Body))[1]
		if _, _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err != nil {
			t.Errorf("the starting password: %v", err)
		}
		token := once.FindStringSubmatch(string(s.Visit(t, "keeper", "POST /site/people/new", "login", "carol",
			"with", "token").Body))[1]
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200,
			Want: `{"login": "carol"}`, Has: map[string]string{"X-OAuth-Scopes": "repo, read:org, plants"}})
		body := show(t, s, "keeper", "/site/people", "alice", "bob", "carol", "Site administrator")
		if strings.Contains(body, password) || strings.Contains(show(t, s, "keeper", "/site/people/bob"),
			password) {
			t.Error("the password is shown again")
		}
		if body := show(t, s, "keeper", "/site/people?q=ASH", "alice"); strings.Contains(body, "carol") {
			t.Error("the search finds everybody")
		}
		show(t, s, "keeper", "/site/people?q=%25", "Nobody.")
		show(t, s, "keeper", "/site/people?q=%ff%00&after=%00")
		if body := show(t, s, "keeper", "/site/people?after=alice", "bob"); strings.Contains(body, ">alice<") {
			t.Error("the list does not go on")
		}

		at := "/site/people/bob"
		s.Visit(t, "keeper", "POST "+at, "do", "suspend").Leads(t, at)
		show(t, s, "keeper", at, "Suspended")
		if _, _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err == nil {
			t.Error("somebody suspended signs in")
		}
		s.Visit(t, "keeper", "POST "+at, "do", "unsuspend").Leads(t, at)
		s.Visit(t, "keeper", "POST "+at, "do", "promote").Leads(t, at)
		show(t, s, "keeper", at, "Site administrator")
		s.Visit(t, "keeper", "POST "+at, "do", "demote").Leads(t, at)
		next := once.FindStringSubmatch(string(s.Visit(t, "keeper", "POST "+at, "do", "password").Body))[1]
		if _, _, err := s.Forge.Sessions.SignIn(t.Context(), "bob", password, session.Origin{}); err == nil ||
			next == password {
			t.Error("the old password counts")
		}
		s.Visit(t, "keeper", "POST "+at, "do", "quota", "repos", "3", "mib", "none", "text", "7").Leads(t, at)
		show(t, s, "keeper", at, `value="3"`, `value="none"`, `value="7"`)
		s.Visit(t, "keeper", "POST "+at, "do", "quota", "repos", "-1", "mib", apitest.Markup).Shows(t, 422,
			`value="-1"`, "invalid limit", "onerror=alert(1)&gt;")
		s.Visit(t, "keeper", "POST "+at, "do", "quota", "repos", "", "mib", "").Leads(t, at)
		s.Visit(t, "keeper", "POST "+at, "do", "rename", "login", "alice").Shows(t, 422, "taken")
		s.Visit(t, "keeper", "POST "+at, "do", "rename", "login", "robert").Leads(t, "/site/people/robert")
		at = "/site/people/robert"
		s.Visit(t, "keeper", "POST "+at, "do", "delete", "confirm", "bob").Shows(t, 422, "Nothing was done",
			`value="bob"`)
		s.Visit(t, "keeper", "POST "+at, "do", "nothing").Shows(t, 400)
		s.Visit(t, "keeper", "POST "+at, "do", "delete", "confirm", "robert").Leads(t, "/site/people")
		s.Check(t, apitest.Case{Do: "GET " + at, As: "keeper", Headers: inBrowser, Status: 404})
		show(t, s, "keeper", "/site/people/keeper", "This is you")
		for _, do := range []string{"suspend", "demote"} {
			s.Visit(t, "keeper", "POST /site/people/keeper", "do", do).Shows(t, 403, "yourself")
		}
		s.Visit(t, "keeper", "POST /site/people/keeper", "do", "delete", "confirm", "keeper").Shows(t, 403,
			"You cannot delete yourself")

		log := show(t, s, "keeper", "/site/audit?phrase=actor:keeper", "user.create", "user.suspend",
			"user.unsuspend",
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
		s.Visit(t, "keeper", "POST /site/organizations/new", "login", "guild", "owner", apitest.Markup).Shows(t,
			422, `value="guild"`, "onerror=alert(1)&gt;")
		s.Visit(t, "keeper", "POST /site/organizations/new", "login", "guild", "owner", "alice", "name",
			apitest.Markup).Leads(t, "/site/organizations/guild")
		at := "/site/organizations/guild"
		show(t, s, "keeper", at, "alice", "1 member", "onerror=alert(1)&gt;")
		show(t, s, "keeper", "/site/organizations?q=gui", "guild")
		s.Check(t, apitest.Case{Do: "GET /site/organizations/alice", As: "keeper", Headers: inBrowser,
			Status: 404})
		s.Check(t, apitest.Case{Do: "GET /site/people/guild", As: "keeper", Headers: inBrowser, Status: 404})
		s.Visit(t, "keeper", "POST "+at, "do", "quota", "repos", "5", "mib", "100").Leads(t, at)
		show(t, s, "keeper", at, `value="5"`, `value="100"`)
		s.Visit(t, "keeper", "POST "+at, "do", "rename", "login", "union").Leads(t, "/site/organizations/union")
		r := s.Repo(t, "union/park", false)
		_ = r
		s.Visit(t, "keeper", "POST /site/organizations/union", "do", "delete", "confirm", "union").Shows(t, 422,
			"owns repositories")
		s.Check(t, apitest.Case{Do: "DELETE /repos/union/park", As: "keeper", Status: 204})
		s.Visit(t, "keeper", "POST /site/organizations/union", "do", "delete", "confirm", "union").Leads(t,
			"/site/organizations")
		show(t, s, "keeper", "/site/audit?phrase=action:org", "org.create", "org.update", "org.rename",
			"org.delete")
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
		show(t, s, "keeper", "/site/repositories", "alice/garden", "alice/diary", "Private")
		if body := show(t, s, "keeper", "/site/repositories?q=diary", "alice/diary"); strings.Contains(body,
			"alice/garden") {
			t.Error("the search finds all")
		}
		show(t, s, "keeper", "/site/repositories?q=size:"+url.QueryEscape(apitest.Markup))
		s.Visit(t, "keeper", "POST /site/repositories", "do", "archive", "repo", "alice/diary").Leads(t,
			"/site/repositories")
		show(t, s, "keeper", "/site/repositories?q=archived:true", "alice/diary", "Unarchive")
		s.Visit(t, "keeper", "POST /site/repositories", "do", "unarchive", "repo", "alice/diary").Leads(t,
			"/site/repositories")
		s.Visit(t, "keeper", "POST /site/repositories", "do", "back", "repo", "alice/garden").Shows(t, 422,
			"whose root was deleted", `value="alice/garden"`)
		s.Visit(t, "keeper", "POST /site/repositories", "do", "back", "repo", apitest.Markup).Shows(t, 422,
			"not found", "onerror=alert(1)&gt;")
		show(t, s, "keeper", "/site/audit?phrase=repo:alice/diary", "repo.archived", "repo.unarchived")
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
		body := show(t, s, "keeper", "/site/audit?phrase=action:user.create", "user.create", `rel="next"`)
		older := regexp.MustCompile(`href="(\?[^"]+)" rel="next"`).FindStringSubmatch(body)[1]
		show(t, s, "keeper", "/site/audit"+strings.ReplaceAll(older, "&amp;", "&"), "user.create",
			`rel="prev"`, "keeper")
		s.Do(t, apitest.Case{Do: "GET /site/audit?phrase=" + url.QueryEscape(apitest.Markup), As: "keeper",
			Headers: inBrowser}).Shows(t, 422, "onerror=alert(1)&gt;")
		show(t, s, "keeper", "/site/jobs", "Deliveries to webhooks", "test_merge")
		show(t, s, "keeper", "/site/health", "database", "schema", "space", "git version",
			"no backup yet")
		if next := show(t, s, "keeper", "/site/people", `rel="next"`); strings.Count(next, "<tr>") > 52 {
			t.Error("the list is not cut")
		}
	})
}

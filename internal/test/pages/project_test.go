package pages_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// A form makes a repository for its caller or an organization; what was typed wrongly is not lost.
func TestNew(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "garden", "alice")
		s.Visit(t, "", "GET /new").Leads(t, "/login?return_to=%2Fnew")
		s.Visit(t, "alice", "GET /new?owner=garden&name=plot&visibility=private").
			Shows(t, 200, "<option selected>garden</option>", `value="plot"`, `value="private" checked`,
				"MIT License", "<option>Go</option>")
		s.Visit(t, "alice", "POST /new", "owner", "alice", "name", "first", "description", evil,
			"visibility", "private", "readme", "1", "gitignore", "Go", "license", "mit").Leads(t,
			"/alice/first")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/first/contents", As: "alice", Status: 200,
			Want: `[{"name": ".gitignore"}, {"name": "LICENSE"}, {"name": "README.md"}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/first", As: "bob", Status: 404})
		s.Visit(t, "alice", "POST /new", "owner", "garden", "name", "plot", "visibility", "public").Leads(t,
			"/garden/plot")
		s.Visit(t, "alice", "POST /new", "owner", "alice", "name", "first", "description", evil, "visibility",
			"private", "license", "mit").
			Shows(t, 422, `value="first"`, evil, `value="private" checked`, `<option value="mit" selected>`)
		s.Visit(t, "alice", "POST /new", "owner", "alice", "name", "no spaces "+evil).Shows(t, 422)
		s.Visit(t, "alice", "POST /new", "owner", "alice", "name", "").Shows(t, 422, "Repository name is missing")
		s.Visit(t, "alice", "POST /new", "name", "x", "license", "none-of-these").Shows(t, 422)
		s.Visit(t, "bob", "POST /new", "owner", "garden", "name", "mine").Shows(t, 403)
		s.Visit(t, "", "POST /new", "name", "x").Leads(t, "/login")
	})
}

// fill creates a repository of alice with a commit.
func fill(t *testing.T, s *apitest.Server, body string) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: body, Status: 201})
}

// A fork is made for its caller or an organization, of what the caller sees.
func TestFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "garden", "bob")
		fill(t, s, `{"name": "open", "auto_init": true}`)
		fill(t, s, `{"name": "secret", "auto_init": true, "private": true}`)
		s.Visit(t, "", "GET /alice/open/fork").Leads(t, "/login?return_to=%2Falice%2Fopen%2Ffork")
		s.Visit(t, "bob", "GET /alice/secret/fork").Shows(t, 404)
		s.Visit(t, "bob", "POST /alice/secret/fork", "owner", "bob").Shows(t, 404)
		s.Visit(t, "bob", "GET /alice/open/fork").Shows(t, 200, "<option selected>bob</option>",
			"<option>garden</option>", `value="open"`)
		s.Visit(t, "bob", "POST /alice/open/fork", "owner", "bob", "name", "mine", "only",
			"1").Leads(t, "/bob/mine")
		s.Visit(t, "bob", "POST /alice/open/fork", "owner", "garden", "name", "").Leads(t, "/garden/open")
		s.Visit(t, "bob", "POST /alice/open/fork", "owner", "nobody-here", "name", "kept").Shows(t, 422,
			`value="kept"`)
		s.Visit(t, "alice", "POST /alice/secret/fork", "owner", "nobody-here", "name", "a b").Shows(t, 422,
			`value="a b"`)
		s.Visit(t, "", "GET /alice/open/forks").Shows(t, 200, `href="/bob/mine"`, `href="/garden/open"`)
		s.Visit(t, "", "GET /alice/open/forks?sort=stargazers&page=9").Shows(t, 200,
			"No forks to show")
		s.Check(t, apitest.Case{Do: "GET /bob/mine", Headers: inBrowser,
			Status: 200})
	})
}

// The buttons of a repository's head star and watch it, and lead back to where they were pressed, on this
// site alone.
func TestMarks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/open", false)
		s.Repo(t, "alice/secret", true)
		const at = "/alice/open"
		for _, c := range []struct{ on, off, list, shown, not string }{
			{"/star", "/unstar", "/stargazers", `action="/alice/open/unstar"><input type="hidden"`,
				`action="/alice/open/star"`},
			{"/watch", "/unwatch", "/watchers", `formaction="/alice/open/watch" aria-current="true"`,
				`formaction="/alice/open/unwatch" aria-current="true"`},
		} {
			s.Visit(t, "bob", "POST "+at+c.on, "return_to", "/alice/open/forks?page=2").Leads(t,
				"/alice/open/forks?page=2")
			s.Visit(t, "bob", "GET "+at+c.list).Shows(t, 200, `href="/bob"`, c.shown)
			s.Visit(t, "", "GET "+at+c.list).Shows(t, 200, `href="/bob"`)
			for _, elsewhere := range []string{"https://evil.example/", "//evil.example", "/\\evil.example",
				"javascript:alert(1)", ""} {
				s.Visit(t, "bob", "POST "+at+c.off, "return_to", elsewhere).Leads(t, at)
			}
			s.Visit(t, "bob", "GET "+at+c.list).Shows(t, 200, "Nobody here yet", c.not)
			s.Visit(t, "bob", "POST /alice/secret"+c.on).Shows(t, 404)
			s.Visit(t, "bob", "GET /alice/secret"+c.list).Shows(t, 404)
			s.Visit(t, "", "POST "+at+c.on).Leads(t, "/login")
		}
		s.Visit(t, "bob", "POST "+at+"/ignore").Leads(t, at)
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "Ignoring</summary>",
			`formaction="/alice/open/ignore" aria-current="true"`)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/open/subscription", As: "bob", Status: 200,
			Want: `{"ignored": true}`})
		other := s.Do(t, apitest.Case{Do: "POST " + at + "/star", As: "bob", Send: "return_to=/",
			Headers: map[string]string{
				"Accept": apitest.Browser, "Content-Type": "application/x-www-form-urlencoded",
				"Origin": "https://evil.example"}})
		if other.Status != 403 {
			t.Errorf("a form of another site: %d", other.Status)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/open/stargazers", Status: 200, Body: "[]"})
	})
}

// Lists cost the same few statements for one row and for many.
func TestProjectStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		s.User(t, "alice")
		fill(t, s, `{"name": "open", "auto_init": true}`)
		paths := []string{"/alice/open/stargazers", "/alice/open/watchers", "/alice/open/forks"}
		mark := func(n int) {
			login := fmt.Sprint("user", n)
			s.User(t, login)
			s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/open", As: login, Status: 204})
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/open/subscription", As: login, Status: 200})
			s.Check(t, apitest.Case{Do: "POST /repos/alice/open/forks", As: login, Status: 202})
		}
		mark(0)
		costsAsMuch(t, s, statements, "alice", paths, func() {
			for n := range 30 {
				mark(n + 1)
			}
		})
		if cost := s.Cost(t, statements, "alice", "/new"); cost > 20 {
			t.Errorf("/new: %d statements", cost)
		}
	})
}

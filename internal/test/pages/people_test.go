package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// A profile shows who somebody is, harmlessly, and to each viewer only what that viewer may see.
func TestProfile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "Alice", "bob", "sam")
		s.Org(t, "garden", "Alice")
		s.Repo(t, "alice/open", false)
		s.Repo(t, "alice/secret", true)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/open", As: "Alice", Status: 200,
			Send: `{"description": "\"><script>alert(1)</script>"}`})
		s.Check(t, apitest.Case{Do: "PATCH /user", As: "Alice", Status: 200,
			Send: `{"name": "<b>Alice</b>", "bio": "\"><script>alert(1)</script>", "blog": "javascript:alert(1)", "location": "<i>", "company": "Soil & Sons"}`})
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/secret", As: "Alice", Status: 204})
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/open", As: "Alice", Status: 204})

		s.Visit(t, "", "GET /ALICE").Shows(t, 200, "<b>Alice</b>", `"><script>alert(1)</script>`,
			"Soil & Sons", `href="/Alice/open"`, "!secret", "!garden", "!javascript:", "Recent activity",
			"!Edit profile")
		s.Visit(t, "bob", "GET /alice").Shows(t, 200, "!secret", "!garden", `value="follow"`)
		s.Visit(t, "Alice", "GET /alice").Shows(t, 200, "secret", `alt="garden"`, "Edit profile",
			`!value="follow"`)
		for _, tab := range []string{"repositories", "stars", "followers", "following"} {
			s.Visit(t, "", "GET /alice?tab="+tab).Shows(t, 200, "!secret")
		}
		s.Visit(t, "", "GET /alice?tab=stars").Shows(t, 200, `href="/Alice/open"`)
		s.Visit(t, "Alice", "GET /alice?tab=stars").Shows(t, 200, "secret")
		s.Visit(t, "Alice", "GET /alice?tab=repositories").Shows(t, 200, "secret")
		s.Check(t, apitest.Case{Do: "PUT /orgs/garden/public_members/alice", As: "Alice", Status: 204})
		s.Visit(t, "bob", "GET /alice").Shows(t, 200, `alt="garden"`)
		for _, path := range []string{"/nobody", "/no%20body", "/settings.x", "/ghost%5Bbot%5D",
			"/" + strings.Repeat("a", 500)} {
			s.Visit(t, "", "GET "+path).Shows(t, 404, "There is nothing at this address")
		}
	})
}

// Programs that look for the API find its errors, and nobody gets a page again that they have.
func TestProgramsAndTags(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Check(t, apitest.Case{Do: "GET /nobody", Status: 404, Want: `{"message": "Not Found"}`})
	tag := s.Visit(t, "", "GET /alice").Header.Get("Etag")
	a := s.Do(t, apitest.Case{Do: "GET /alice",
		Headers: map[string]string{"Accept": apitest.Browser, "If-None-Match": tag}})
	if a.Status != 304 || len(a.Body) > 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// A button follows and unfollows; who did not sign in is led there.
func TestFollow(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Visit(t, "bob", "POST /alice", "action", "follow", "return_to", "/alice?tab=stars").Leads(t,
			"/alice?tab=stars")
		s.Visit(t, "bob", "GET /alice").Shows(t, 200, `value="unfollow"`, "1 follower")
		s.Visit(t, "", "GET /alice?tab=followers").Shows(t, 200, `href="/bob"`)
		s.Visit(t, "", "GET /bob?tab=following").Shows(t, 200, `href="/alice"`)
		s.Visit(t, "bob", "POST /alice", "action", "unfollow", "return_to",
			"//evil.example").Leads(t, "/alice")
		s.Visit(t, "bob", "GET /alice").Shows(t, 200, `value="follow"`, "0 followers")
		s.Visit(t, "bob", "POST /alice", "action", "dance").Shows(t, 422)
		s.Visit(t, "bob", "POST /bob", "action", "follow").Shows(t, 422)
		s.Visit(t, "bob", "POST /nobody", "action", "follow").Shows(t, 404)
		s.Visit(t, "", "POST /alice", "action", "follow").Leads(t, "/login")
	})
}

// A suspension is shown only to site administrators, and a former login is not found.
func TestSuspendedAndRenamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "root-gardener")
		s.Users(t, "alice", "bob")
		s.Repo(t, "bob/plot", false)
		s.Check(t, apitest.Case{Do: "PUT /users/alice/suspended", As: "root-gardener", Status: 204})
		s.Visit(t, "root-gardener", "GET /alice").Shows(t, 200, "Suspended")
		s.Visit(t, "bob", "GET /alice").Shows(t, 200, "!Suspended")
		s.Visit(t, "", "GET /alice").Shows(t, 200, "!Suspended")
		s.Check(t, apitest.Case{Do: "PATCH /admin/users/bob", As: "root-gardener",
			Send: `{"login": "robert"}`, Status: 202})
		s.Visit(t, "", "GET /bob").Shows(t, 404)
		s.Visit(t, "", "GET /robert").Shows(t, 200, `href="/robert/plot"`)
	})
}

// The list of repositories can be filtered by words, kind and language, ordered and paged. Typed text is
// only words.
func TestRepositoryFilter(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		h := &history{}
		h.commit("main", "", "Begin", "main.go", "package main\n")
		h.into(t, s, "alice/compost", false)
		s.Repo(t, "alice/secret-bed", true)
		s.Repo(t, "bob/compost", false)
		s.ManyRepos(t, "alice", 40)
		s.Settle(t)
		list := "GET /alice?tab=repositories"
		first := s.Visit(t, "", list).Shows(t, 200, `rel="next"`)
		if n := strings.Count(string(first.Body), `class="repoitem"`); n != 30 {
			t.Errorf("%d repositories on the first page", n)
		}
		second := s.Visit(t, "", list+"&page=2").Shows(t, 200, `rel="prev"`)
		if n := strings.Count(string(second.Body), `class="repoitem"`); n != 11 {
			t.Errorf("%d repositories on the second page", n)
		}
		s.Visit(t, "", list+"&q=compost").Shows(t, 200, `href="/alice/compost"`, "!bob/compost", "!/alice/r1")
		s.Visit(t, "", list+"&q=compost+user%3Abob").Shows(t, 200, "!bob/compost")
		s.Visit(t, "", list+"&language=Go").Shows(t, 200, `href="/alice/compost"`, "!/alice/r1")
		s.Visit(t, "", list+"&language=Go%22+user:bob").Shows(t, 200, "!bob/compost")
		s.Visit(t, "", list+"&type=private").Shows(t, 200, "!secret-bed")
		s.Visit(t, "alice", list+"&type=private").Shows(t, 200, "secret-bed", "!/alice/r1")
		s.Visit(t, "", list+"&sort=name").Shows(t, 200, `href="/alice/compost"`)
		s.Visit(t, "", list+"&sort=stars&q="+strings.Repeat("x", 300)).Shows(t, 200)
		s.Visit(t, "", list+"&q=%22%22((&type=x&sort=%00&page=-1").Shows(t, 200)
	})
}

// Owners add members, change their roles and remove them; everyone chooses whether to be shown. Others see
// those who are.
func TestMembers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "sam")
		s.Org(t, "garden", "alice")
		const at = "/orgs/garden/people"
		s.Visit(t, "sam", "GET "+at).Shows(t, 200, "!alice", "No members to show")
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "alice Owner Visible to members", "Add a member")
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", "bob", "role", "member").Leads(t,
			at)
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", "nobody-here", "role", "admin").
			Shows(t, 422, "User nobody-here not found", `value="nobody-here"`, `value="admin" selected`)
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", evil).Shows(t, 422, evil)
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", "").Shows(t, 422, "is missing")
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "alice Owner", "bob Member", "!Add a member")
		s.Visit(t, "bob", "POST "+at, "action", "set", "login", "carol").Shows(t, 403)
		s.Visit(t, "sam", "POST "+at, "action", "set", "login", "sam", "role", "admin").Shows(t, 403,
			"!alice Owner")
		s.Visit(t, "bob", "POST "+at, "action", "publicize", "login", "bob").Leads(t, at)
		s.Visit(t, "sam", "GET "+at).Shows(t, 200, "bob", "!alice")
		s.Visit(t, "", "GET /garden").Shows(t, 200, `alt="bob"`, `!alt="alice"`)
		s.Visit(t, "bob", "POST "+at, "action", "conceal", "login", "bob").Leads(t, at)
		s.Visit(t, "", "GET "+at).Shows(t, 200, "!bob")
		s.Visit(t, "alice", "POST "+at, "action", "remove", "login", "alice").Shows(t, 422)
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", "bob", "role", "admin").Leads(t,
			at)
		s.Visit(t, "carol", "GET "+at+"?role=admin").Shows(t, 200, "!bob")
		s.Visit(t, "bob", "GET "+at+"?role=admin").Shows(t, 200, "alice Owner", "bob Owner")
		s.Visit(t, "bob", "POST "+at, "action", "remove", "login", "alice").Leads(t, at)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "!bob")
		s.Visit(t, "", "POST "+at, "action", "set", "login", "sam").Leads(t, "/login")
		s.Visit(t, "alice", "GET /orgs/bob/people").Shows(t, 404)
	})
}

// Owners see outside collaborators, remove them, and make members such; others are shown neither.
func TestOutsideCollaborators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "garden", "alice")
		plot := s.Repo(t, "garden/plot", true)
		const at, outside = "/orgs/garden/people", "/orgs/garden/people?role=outside"
		s.Visit(t, "alice", "POST "+at, "action", "set", "login", "bob", "role", "member").Leads(t, at)
		s.Visit(t, "alice", "GET "+outside).Shows(t, 200, "No outside collaborators", "!Add a member")
		s.Grant(t, plot, "bob", account.Push)
		s.Grant(t, plot, "carol", account.Push)
		s.Visit(t, "alice", "GET "+outside).Shows(t, 200, "carol Outside collaborator", "!bob")
		s.Visit(t, "bob", "GET "+outside).Shows(t, 200, "bob Member", "!carol", "!Outside collaborators")
		s.Visit(t, "bob", "POST "+at, "action", "remove-outside", "login", "carol").Shows(t, 403)
		s.Visit(t, "bob", "POST "+at, "action", "convert", "login", "bob").Shows(t, 403)
		s.Visit(t, "alice", "POST "+at, "action", "convert", "login", "bob").Leads(t, at)
		s.Visit(t, "alice", "GET "+outside).Shows(t, 200, "bob Outside collaborator",
			"carol Outside collaborator")
		s.Visit(t, "alice", "POST "+at, "action", "convert", "login", "alice").Shows(t, 403)
		s.Visit(t, "alice", "POST "+at, "action", "remove-outside", "login", "alice").Shows(t, 422)
		s.Visit(t, "alice", "POST "+at, "action", "remove-outside", "login", "carol").Leads(t, at)
		s.Visit(t, "alice", "GET "+outside).Shows(t, 200, "bob Outside collaborator", "!carol")
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot", As: "carol", Status: 404})
	})
}

// The owners of an organization change what it says of itself; what was typed wrongly is not lost.
func TestOrgSettings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "garden", "alice")
		const at = "/orgs/garden/settings"
		s.Visit(t, "", "GET "+at).Leads(t, "/login?return_to=%2Forgs%2Fgarden%2Fsettings")
		s.Visit(t, "bob", "GET "+at).Shows(t, 403, "for its owners")
		s.Visit(t, "bob", "POST "+at, "name", "Mine", "default_repository_permission", "admin").Shows(t, 403)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "Default permission of members")
		s.Visit(t, "alice", "POST "+at, "name", evil, "description", "Peas\r\nand beans", "blog",
			"https://example.org/", "default_repository_permission", "write", "private_forks", "1").Leads(t,
			at)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, `<option value="write" selected>`,
			`name="private_forks" value="1" checked`)
		s.Visit(t, "bob", "GET /garden").Shows(t, 200, evil, "Peas", `href="https://example.org/"`,
			`!href="/orgs/garden/settings"`)
		s.Visit(t, "alice", "POST "+at, "name", "Typed", "email", "no address",
			"default_repository_permission", "none").
			Shows(t, 422, "e-mail address", `value="Typed"`, `value="no address"`,
				`<option value="none" selected>`)
	})
}

// Only site administrators create organizations; others see who can.
func TestNewOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "root-gardener")
		s.User(t, "alice")
		const at = "/new/organization"
		s.Visit(t, "alice", "GET /new").Shows(t, 200, `!href="/new/organization"`)
		s.Visit(t, "root-gardener", "GET /new").Shows(t, 200, `href="/new/organization"`)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "Site administrators create organizations",
			`!name="login"`)
		s.Visit(t, "alice", "POST "+at, "login", "garden", "owner", "alice").Shows(t, 404)
		s.Visit(t, "root-gardener", "POST "+at, "login", "alice", "owner", "alice", "name", "Gone?").Shows(t,
			422, `value="Gone?"`)
		s.Visit(t, "root-gardener", "POST "+at, "login", "garden", "owner", "nobody-here").Shows(t, 422,
			`value="nobody-here"`)
		s.Visit(t, "root-gardener", "POST "+at, "login", "garden", "owner", "alice", "name",
			"The garden").Leads(t, "/garden")
		s.Visit(t, "alice", "GET /garden").Shows(t, 200, "The garden", "Settings")
		s.Visit(t, "", "GET "+at).Leads(t, "/login?return_to=%2Fnew%2Forganization")
	})
}

// A page costs the same few statements for one row and for a hundred.
func TestPeopleStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		s.Users(t, "alice", "bob")
		s.Org(t, "garden", "alice")
		s.Repo(t, "alice/one", false)
		s.Repo(t, "garden/one", false)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/one/issues", As: "alice", Send: `{"title": "x"}`,
			Status: 201})
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/one", As: "alice", Status: 204})
		s.Check(t, apitest.Case{Do: "PUT /user/following/alice", As: "bob", Status: 204})
		paths := []string{"/alice", "/alice?tab=repositories", "/alice?tab=repositories&q=r",
			"/alice?tab=stars", "/alice?tab=followers", "/garden", "/orgs/garden/people"}
		costsAsMuch(t, s, statements, "alice", paths, func() {
			s.ManyRepos(t, "alice", 40)
			s.ManyRepos(t, "garden", 40)
			for n := range 40 {
				login := fmt.Sprint("user", n)
				s.User(t, login)
				s.Check(t, apitest.Case{Do: "PUT /user/following/alice", As: login, Status: 204})
				s.Check(t, apitest.Case{Do: "PUT /orgs/garden/memberships/" + login, As: "alice", Status: 200})
				s.Check(t, apitest.Case{Do: fmt.Sprint("PUT /user/starred/alice/r", n), As: "alice",
					Status: 204})
				s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /repos/alice/r%d/issues", n), As: "alice",
					Send: `{"title": "x"}`, Status: 201})
			}
		})
	})
}

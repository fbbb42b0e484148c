package issues_test

import (
	"strconv"
	"strings"
	"testing"

	"arbor/internal/account/token"

	"arbor/internal/issue"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Each change of visibility shows or hides existing threads, and later events notify only those who can see
// them. pip has an unread mention in the private guild/hall, which pip watches.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const (
		at    = "/repos/guild/hall"
		told1 = "Door:mention"
	)
	comment := func(t *testing.T, s *apitest.Server) {
		s.Ask(t, "boss", "POST "+at+"/issues/1/comments", `{"body": "@pip"}`, 201)
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, s *apitest.Server)
		want   string // pip's notifications afterwards
		back   func(t *testing.T, s *apitest.Server)
		again  string // and after that
	}{
		"shown": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"private": false}`, 200)
		}, told1, nil, ""},
		"hidden": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"private": false}`, 200)
			s.Ask(t, "boss", "DELETE /orgs/guild/members/pip", "", 204)
			s.Ask(t, "boss", "PATCH "+at, `{"private": true}`, 200)
		}, "", func(t *testing.T, s *apitest.Server) {
			comment(t, s)
			settle(t, s)
			s.Ask(t, "boss", "PATCH "+at, `{"private": false}`, 200)
		}, told1},
		"renamed": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"name": "house"}`, 200)
			s.Ask(t, "boss", "PATCH /repos/guild/house/issues/1", `{"title": "Gate"}`, 200)
		}, "Gate:mention", nil, ""},
		"transferred": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "POST "+at+"/transfer", `{"new_owner": "boss"}`, 202)
		}, "", func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "POST /repos/boss/hall/transfer", `{"new_owner": "guild"}`, 202)
		}, told1},
		"repository deleted": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "DELETE "+at, "", 204)
		}, "", nil, ""},
		"issue deleted": {func(t *testing.T, s *apitest.Server) {
			if err := s.Forge.Issues.Delete(t.Context(), s.Access(t, "boss", "guild/hall"), 1); err != nil {
				t.Error(err)
			}
		}, "", nil, ""},
		"issues switched off": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"has_issues": false}`, 200)
		}, "", func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"has_issues": true}`, 200)
		}, told1},
		"membership lost": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "DELETE /orgs/guild/members/pip", "", 204)
			comment(t, s)
		}, "", func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PUT "+at+"/collaborators/pip", "", 204)
		}, told1},
		"suspended": {func(t *testing.T, s *apitest.Server) {
			readAll(t, s, "pip")
			s.Ask(t, "chief", "PUT /users/pip/suspended", "", 204)
			comment(t, s)
			settle(t, s)
			s.Ask(t, "chief", "DELETE /users/pip/suspended", "", 204)
		}, "", comment, told1},
		"archived": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "PATCH "+at, `{"archived": true}`, 200)
		}, told1, func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "pip", "PUT "+at+"/notifications", "", 205)
		}, ""},
		"unwatched": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "pip", "DELETE "+at+"/subscription", "", 204)
			s.Ask(t, "boss", "POST "+at+"/issues", `{"title": "Window"}`, 201)
		}, told1, func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "pip", "PUT "+at+"/subscription", `{"ignored": true}`, 200)
			readAll(t, s, "pip")
			comment(t, s)
		}, ""},
		"issue in another repository": {func(t *testing.T, s *apitest.Server) {
			s.Repo(t, "guild/den", true)
			from, to := s.Access(t, "boss", "guild/hall"), s.Access(t, "boss", "guild/den")
			if _, err := s.Forge.Issues.Transfer(t.Context(), from, 1, issue.Transfer{To: to}); err != nil {
				t.Error(err)
			}
		}, told1, func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "boss", "DELETE /orgs/guild/members/pip", "", 204)
		}, ""},
		"account deleted": {func(t *testing.T, s *apitest.Server) {
			s.Ask(t, "chief", "DELETE /admin/users/pip", "", 204)
			if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_threads WHERE reason = 8`); n != 0 {
				t.Errorf("%d threads are left", n)
			}
		}, "-", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				hall(t, s)
				c.change(t, s)
				if c.want == "-" {
					settle(t, s)
					return
				}
				look(t, s, c.want)
				if c.back != nil {
					c.back(t, s)
					look(t, s, c.again)
				}
			})
		})
	}
}

// hall is a private repository of the organization guild, in which pip is mentioned.
func hall(t *testing.T, s *apitest.Server) {
	s.Users(t, "boss", "pip")
	s.Admin(t, "chief")
	s.Org(t, "guild", "boss")
	s.Ask(t, "boss", "PUT /orgs/guild/memberships/pip", `{"role": "member"}`, 200)
	s.Repo(t, "guild/hall", true)
	s.Ask(t, "pip", "PUT /repos/guild/hall/subscription", "", 200)
	s.Ask(t, "boss", "POST /repos/guild/hall/issues", `{"title": "Door", "body": "@pip"}`, 201)
	expect(t, s, map[string]string{"pip": "Door:mention"})
}

// look compares pip's notifications and the thread's own address with the expected ones.
func look(t *testing.T, s *apitest.Server, want string) {
	t.Helper()
	expect(t, s, map[string]string{"pip": want})
	const last = `SELECT COALESCE(max(id), 0) FROM notification_threads WHERE reason = 8`
	if n := dbtest.Number(t, s.DB, last); n != 0 && want == "" {
		list := threads(t, s, "pip", "/notifications?all=true")
		for _, x := range list {
			if x.Reason == "mention" {
				return // it was read
			}
		}
		for _, what := range []string{"GET %", "PATCH %", "DELETE %", "GET %/subscription",
			"PUT %/subscription", "DELETE %/subscription"} {
			s.Check(t, apitest.Case{Do: fill(what, n), As: "pip", Status: 404})
		}
	}
}

func exec(t *testing.T, s *apitest.Server, query string, args ...any) {
	t.Helper()
	settle(t, s)
	dbtest.Exec(t, s.DB, query, args...)
}

// Tokens see the threads of what they see.
func TestLimitedTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		hall(t, s)
		s.Repo(t, "guild/yard", false)
		s.Ask(t, "boss", "POST /repos/guild/yard/issues", `{"title": "Tree", "body": "@pip"}`, 201)
		settle(t, s) // so that the next one is newer
		other := s.Repo(t, "guild/attic", true)
		s.Ask(t, "boss", "POST /repos/guild/attic/issues", `{"title": "Box", "body": "@pip"}`, 201)
		expect(t, s, map[string]string{"pip": "Box:mention Door:mention Tree:mention"})
		all, public := `[{"subject": {"title": "Box"}}, {"subject": {"title": "Tree"}}, {"subject": {"title": "Door"}}]`, `[{"subject": {"title": "Tree"}}]`
		for name, c := range map[string]struct {
			token token.NewToken
			want  string
			code  int
		}{
			"repo":          {token.NewToken{Scopes: scopes(t, "repo")}, all, 200},
			"notifications": {token.NewToken{Scopes: scopes(t, "notifications")}, public, 200},
			"public_repo":   {token.NewToken{Scopes: scopes(t, "public_repo")}, public, 200},
			"user":          {token.NewToken{Scopes: scopes(t, "user")}, "", 403},
			"chosen":        {token.NewToken{Repos: []int64{int64(other.ID)}}, `[{"subject": {"title": "Box"}}, {"subject": {"title": "Tree"}}]`, 200},
		} {
			c.token.Login, c.token.Note = "pip", name
			made, _, err := s.Forge.Tokens.CreateToken(t.Context(), c.token)
			testkit.NoError(t, err)
			as := map[string]string{"Authorization": "Bearer " + made}
			s.Check(t, apitest.Case{Do: "GET /notifications", Headers: as, Status: c.code, Want: c.want})
			if name == "public_repo" { // marks what it sees
				s.Check(t, apitest.Case{Do: "PUT /notifications", Headers: as, Status: 205})
				expect(t, s, map[string]string{"pip": "Box:mention Door:mention"})
				exec(t, s, `UPDATE notification_threads SET unread = TRUE`)
			}
		}
	})
}

func fill(what string, id int64) string {
	return strings.ReplaceAll(what, "%", "/notifications/threads/"+strconv.FormatInt(id, 10))
}

func scopes(t *testing.T, text string) scope.Set {
	t.Helper()
	s, err := scope.Parse(text)
	testkit.NoError(t, err)
	return s
}

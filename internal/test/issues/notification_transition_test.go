package issues_test

import (
	"strconv"
	"strings"
	"testing"

	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
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
		do(t, s, "boss", 201, "POST "+at+"/issues/1/comments", `{"body": "@pip"}`)
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, s *apitest.Server)
		want   string // pip's notifications afterwards
		back   func(t *testing.T, s *apitest.Server)
		again  string // and after that
	}{
		"shown": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"private": false}`)
		}, told1, nil, ""},
		"hidden": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"private": false}`)
			do(t, s, "boss", 204, "DELETE /orgs/guild/members/pip")
			do(t, s, "boss", 200, "PATCH "+at, `{"private": true}`)
		}, "", func(t *testing.T, s *apitest.Server) {
			comment(t, s)
			settle(t, s)
			do(t, s, "boss", 200, "PATCH "+at, `{"private": false}`)
		}, told1},
		"renamed": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"name": "house"}`)
			do(t, s, "boss", 200, "PATCH /repos/guild/house/issues/1", `{"title": "Gate"}`)
		}, "Gate:mention", nil, ""},
		"transferred": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 202, "POST "+at+"/transfer", `{"new_owner": "boss"}`)
		}, "", func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 202, "POST /repos/boss/hall/transfer", `{"new_owner": "guild"}`)
		}, told1},
		"repository deleted": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 204, "DELETE "+at)
		}, "", nil, ""},
		"issue deleted": {func(t *testing.T, s *apitest.Server) {
			if err := s.Forge.Issues.Delete(t.Context(), s.Access(t, "boss", "guild/hall"), 1); err != nil {
				t.Error(err)
			}
		}, "", nil, ""},
		"issues switched off": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"has_issues": false}`)
		}, "", func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"has_issues": true}`)
		}, told1},
		"membership lost": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 204, "DELETE /orgs/guild/members/pip")
			comment(t, s)
		}, "", func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 204, "PUT "+at+"/collaborators/pip")
		}, told1},
		"suspended": {func(t *testing.T, s *apitest.Server) {
			readAll(t, s, "pip")
			do(t, s, "chief", 204, "PUT /users/pip/suspended")
			comment(t, s)
			settle(t, s)
			do(t, s, "chief", 204, "DELETE /users/pip/suspended")
		}, "", comment, told1},
		"archived": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "boss", 200, "PATCH "+at, `{"archived": true}`)
		}, told1, func(t *testing.T, s *apitest.Server) {
			do(t, s, "pip", 205, "PUT "+at+"/notifications")
		}, ""},
		"unwatched": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "pip", 204, "DELETE "+at+"/subscription")
			do(t, s, "boss", 201, "POST "+at+"/issues", `{"title": "Window"}`)
		}, told1, func(t *testing.T, s *apitest.Server) {
			do(t, s, "pip", 200, "PUT "+at+"/subscription", `{"ignored": true}`)
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
			do(t, s, "boss", 204, "DELETE /orgs/guild/members/pip")
		}, ""},
		"account deleted": {func(t *testing.T, s *apitest.Server) {
			do(t, s, "chief", 204, "DELETE /admin/users/pip")
			if n := count(t, s, `SELECT count(*) FROM notification_threads WHERE reason = 8`); n != 0 {
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
	for _, p := range []string{"boss", "pip"} {
		s.User(t, p)
	}
	s.Admin(t, "chief")
	s.Org(t, "guild", "boss")
	do(t, s, "boss", 200, "PUT /orgs/guild/memberships/pip", `{"role": "member"}`)
	s.Repo(t, "guild/hall", true)
	do(t, s, "pip", 200, "PUT /repos/guild/hall/subscription")
	do(t, s, "boss", 201, "POST /repos/guild/hall/issues", `{"title": "Door", "body": "@pip"}`)
	expect(t, s, map[string]string{"pip": "Door:mention"})
}

// look compares pip's notifications and the thread's own address with the expected ones.
func look(t *testing.T, s *apitest.Server, want string) {
	t.Helper()
	expect(t, s, map[string]string{"pip": want})
	if n := count(t, s, `SELECT COALESCE(max(id), 0) FROM notification_threads WHERE reason = 8`); n != 0 &&
		want == "" {
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
	if err := s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(query, args...) }); err != nil {
		t.Fatal(err)
	}
}

// Tokens see the threads of what they see.
func TestLimitedTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		hall(t, s)
		s.Repo(t, "guild/yard", false)
		do(t, s, "boss", 201, "POST /repos/guild/yard/issues", `{"title": "Tree", "body": "@pip"}`)
		settle(t, s) // so that the next one is newer
		other := s.Repo(t, "guild/attic", true)
		do(t, s, "boss", 201, "POST /repos/guild/attic/issues", `{"title": "Box", "body": "@pip"}`)
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
			if err != nil {
				t.Fatal(err)
			}
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
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package repos_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Commits are shown as those of the account whose address they carry. A user who only
// claims an address must not take over another's commits (decision 64).
func TestCommitsBelongToWhoWasVerified(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice, mallory := s.User(t, "alice"), s.User(t, "mallory")
		reserved := account.NoReply(alice)
		r := s.Repo(t, "alice/plot", false)
		dir := gittest.Bare(t)
		var b strings.Builder
		for n, address := range []string{"alice@example.org", reserved,
			fmt.Sprintf("%d+Former@users.noreply.arbor", alice.ID),
			"ALICE@users.noreply.arbor", "noreply@users.noreply.arbor", "1x+alice@users.noreply.arbor"} {
			fmt.Fprintf(&b, "commit refs/heads/b%d\n", n)
			person := "A <" + address + "> 1700000000 +0000\n"
			b.WriteString("author " + person + "committer " + person + "data 1\nx")
			fmt.Fprintf(&b, "M 100644 inline f\ndata 1\nx")
		}
		gittest.Import(t, dir, strings.NewReader(b.String()+"done\n"))
		s.Import(t, r, dir)
		shows := func(when string, branch int, login string) {
			t.Helper()
			author := "null"
			if login != "" {
				author = fmt.Sprintf(`{"login": %q}`, login)
			}
			at := fmt.Sprintf("/repos/alice/plot/commits/b%d", branch)
			s.Check(t, apitest.Case{Name: when, Do: "GET " + at, Status: 200,
				Want: `{"author": ` + author + `, "committer": ` + author + `}`})
			s.Check(t, apitest.Case{Name: when,
				Do: fmt.Sprintf("GET /repos/alice/plot/commits?sha=b%d", branch), Status: 200,
				Want: `[{"author": ` + author + `}]`})
			s.Check(t, apitest.Case{Name: when, Do: fmt.Sprintf("GET /repos/alice/plot/branches/b%d", branch),
				Status: 200, Want: `{"commit": {"author": ` + author + `}}`})
		}
		for branch, login := range []string{"", "alice", "alice", "alice", "", ""} {
			shows("nobody has claimed anything", branch, login)
		}
		claim := func(login, address string, status int) {
			t.Helper()
			s.Ask(t, login, "PATCH /user", fmt.Sprintf(`{"email": %q}`, address), status)
		}
		claim("mallory", "alice@example.org", 200)
		claim("mallory", reserved, 422)
		claim("mallory", strings.ToUpper(reserved), 422)
		claim("mallory", "alice@users.noreply.arbor", 422)
		claim("mallory", fmt.Sprintf("%d+mallory@users.noreply.arbor", alice.ID), 422)
		claim("alice", reserved, 200)
		claim("alice", "Alice@Example.org", 200)
		shows("it is claimed twice, and by nobody verified", 0, "")
		_, err := s.Accounts.CreateUser(t.Context(),
			account.NewUser{Login: "eve", Email: "alice@users.noreply.arbor"})
		if err == nil {
			t.Error("a user was registered with another's reserved address")
		}
		for _, address := range []string{reserved, "alice@users.noreply.arbor",
			"noreply@users.noreply.arbor"} {
			if err := s.Accounts.AddEmail(t.Context(), "mallory", address); err == nil {
				t.Errorf("%s was given to mallory", address)
			}
		}
		verify := func(login string, ok bool) {
			t.Helper()
			if err := s.Accounts.VerifyEmail(t.Context(), login, "ALICE@example.org"); (err == nil) != ok {
				t.Errorf("verifying for %s: %v", login, err)
			}
		}
		verify("alice", true)
		shows("it was verified a moment ago", 0, "alice")
		verify("mallory", false)
		shows("it stays hers", 0, "alice")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits?sha=b0&author=alice", Status: 200,
			Want: `["$any"]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits?sha=b0&author=mallory",
			Status: 200, Want: `[]`})

		// Commits created by an account through the API are its own, whatever address it gives.
		s.Grant(t, r, "mallory", account.Push)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/contents/g", As: "mallory",
			Send: `{"message": "m", "content": "eA==", "branch": "b0"}`, Status: 201,
			Want: fmt.Sprintf(`{"commit": {"author": {"email": %q}}}`, account.NoReply(mallory))})
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/contents/h", As: "alice",
			Send: `{"message": "m", "content": "eA==", "branch": "b0"}`, Status: 201,
			Want: `{"commit": {"author": {"email": "Alice@Example.org"}}}`})
		testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "alice", "alice@example.org"))
		s.Check(t, apitest.Case{Name: "it was taken a moment ago", Do: "GET /repos/alice/plot/commits/b0",
			Status: 200, Want: `{"author": null}`})
		verify("mallory", true)
		s.Check(t, apitest.Case{Name: "whose it is now", Do: "GET /repos/alice/plot/commits/b0", Status: 200,
			Want: `{"author": {"login": "mallory"}}`})
	})
}

// Authors of commits on the default branch are listed with their number of commits, once for any case of an
// address. Merges do not count.
func TestContributors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gitdataPlant(t, s)
		s.Run(t, []apitest.Case{
			{Do: "GET " + gitdataAt + "/contributors", Status: 200,
				Want: `[{"login": "alice", "type": "User", "contributions": 1}]`},
			{Do: "GET " + gitdataAt + "/contributors?anon=1", Status: 200,
				Want: `[{"type": "Anonymous", "name": "A U Thor", "email": "$any", "login": "$absent", "contributions": 3}, {"login": "alice", "contributions": 1}]`},
			{Do: "GET " + gitdataAt + "/contributors?anon=true&per_page=1", Status: 200,
				Want: `[{"name": "A U Thor"}]`, Has: map[string]string{
					"Link": `<{base}` + gitdataAt +
						`/contributors?anon=true&per_page=1&page=2>; rel="next", <{base}` + gitdataAt +
						`/contributors?anon=true&per_page=1&page=2>; rel="last"`}},
			{Do: "GET /repos/alice/empty/contributors", Status: 204, Body: "-"},
			{Name: "a new commit counts", Do: "PUT " + gitdataAt + "/contents/new.txt", As: "alice", Status: 201,
				Send: `{"message": "New", "content": ""}`},
			{Do: "GET " + gitdataAt + "/contributors", Status: 200,
				Want: `[{"login": "alice", "contributions": 2}]`},
		})
		testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "alice", "alice@example.org"))
		s.Check(t, apitest.Case{Name: "who leaves an address leaves the list",
			Do: "GET " + gitdataAt + "/contributors", Status: 200, Body: "[]"})
	})
}

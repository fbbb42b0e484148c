package repos_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"arbor/internal/test/apitest"
)

// Bots look for issues that nobody works on, and for pull requests that say for what they are: by the texts
// of pull requests as they are now, as GraphQL tells of them.
func TestSearchLinked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "eve")
		s.Repo(t, "alice/garden", true)
		send := func(do, body string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: do, As: "alice", Send: body, Status: status})
		}
		const repo = "/repos/alice/garden"
		var made struct{ Commit struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "PUT " + repo + "/contents/a", As: "alice", Status: 201,
			Send: `{"message": "m", "content": "eA=="}`}).JSON(t, &made)
		for n := range 4 {
			send("POST "+repo+"/issues", fmt.Sprintf(`{"title": "i%d"}`, n), 201)
		}
		for n, body := range []string{"Fixes #1, closes alice/garden#2 and resolves #5", "see #3", "fixes #99", ""} {
			branch := fmt.Sprintf("b%d", n)
			send("POST "+repo+"/git/refs", `{"ref": "refs/heads/`+branch+`", "sha": "`+made.Commit.SHA+`"}`, 201)
			send("PUT "+repo+"/contents/"+branch, `{"message": "m", "content": "eA==", "branch": "`+branch+`"}`, 201)
			send("POST "+repo+"/pulls", fmt.Sprintf(`{"title": "p%d", "head": %q, "base": "main", "body": %q}`, n, branch,
				body), 201)
		}
		find := func(as, query string, want ...int64) {
			t.Helper()
			var found struct{ Items []struct{ Number int64 } }
			s.Check(t, apitest.Case{Do: "GET /search/issues?sort=created&order=asc&q=" + url.QueryEscape(
				"repo:alice/garden "+query), As: as, Status: 200}).JSON(t, &found)
			var got []int64
			for _, i := range found.Items {
				got = append(got, i.Number)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", query, got, want)
			}
		}
		find("alice", "linked:pr", 1, 2)
		find("alice", "linked:issue", 5)
		find("alice", "is:issue -linked:pr", 3, 4)
		find("alice", "is:pr -linked:issue", 6, 7, 8)
		find("alice", "(linked:pr OR linked:issue) is:open", 1, 2, 5)
		send("PATCH "+repo+"/pulls/8", `{"body": "It closes: #4"}`, 200)
		find("alice", "linked:pr", 1, 2, 4)
		send("PATCH "+repo+"/pulls/5", `{"state": "closed"}`, 200) // without a merge
		find("alice", "linked:pr", 4)
		send("PATCH "+repo+"/pulls/8", `{"body": "no more"}`, 200)
		find("alice", "linked:pr")
		send("PUT "+repo+"/pulls/6/merge", `{}`, 200)
		send("PATCH "+repo+"/pulls/6", `{"body": "fixed #3"}`, 200)
		find("alice", "linked:pr", 3)
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Status: 200,
			Send: `{"query": "{search(type:ISSUE,first:9,query:\"repo:alice/garden linked:pr\"){nodes{...on Issue{number}}}}"}`,
			Want: `{"data": {"search": {"nodes": [{"number": 3}]}}}`})
		s.Visit(t, "alice", "GET /alice/garden/issues?q="+url.QueryEscape("linked:pr")).Shows(t, 200, "i2", "!i1")
		for _, as := range []string{"eve", ""} {
			s.Check(t, apitest.Case{Do: "GET /search/issues?q=linked:pr", As: as, Status: 200,
				Want: `{"total_count": 0}`})
		}
	})
}

package repos_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"arbor/internal/test/apitest"
)

// pulls opens five pull requests in alice/garden, numbers 6 to 10, with reviews and statuses.
func pulls(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.User(t, "dora")
	const repo = "/repos/alice/garden"
	file := func(path, branch string) (sha string) {
		var made struct{ Commit struct{ SHA string } }
		s.Ask(t, "alice", "PUT "+repo+"/contents/"+path,
			`{"message": "m", "content": "eA==", "branch": "`+branch+`"}`, 201).JSON(t, &made)
		return made.Commit.SHA
	}
	root := file("README", "main")
	s.Ask(t, "alice", "POST "+repo+"/git/refs", `{"ref": "refs/heads/next", "sha": "`+root+`"}`, 201)
	for n, branch := range []string{"fix/a", "fix/b", "fix-c", "d", "e"} {
		s.Ask(t, "alice", "POST "+repo+"/git/refs",
			`{"ref": "refs/heads/`+branch+`", "sha": "`+root+`"}`, 201)
		sha, base := file(branch, branch), "main"
		if branch == "e" {
			base = "next"
		}
		s.Ask(t, "alice", "POST "+repo+"/pulls",
			`{"title": "Change `+branch+`", "head": "`+branch+`", "base": "`+base+`"}`, 201)
		for _, state := range [][]string{{"success"}, {"failure", "pending"}, {"pending", "success"},
			nil, nil}[n] {
			s.Ask(t, "alice", "POST "+repo+"/statuses/"+sha,
				`{"state": "`+state+`", "context": "`+state+`"}`, 201)
		}
	}
	review := func(number, as, event string) {
		s.Ask(t, as, "POST "+repo+"/pulls/"+number+"/reviews", `{"event": "`+event+`", "body": "see"}`, 200)
	}
	review("6", "bob", "REQUEST_CHANGES")
	review("6", "bob", "APPROVE")
	review("6", "carol", "COMMENT")
	review("7", "bob", "APPROVE")
	review("7", "carol", "REQUEST_CHANGES")
	review("8", "carol", "COMMENT")
	s.Ask(t, "bob", "POST "+repo+"/pulls/9/reviews", `{"body": "not sent"}`, 200) // pending: bob's alone
	s.Ask(t, "alice", "POST "+repo+"/pulls/9/requested_reviewers", `{"reviewers": ["bob"]}`, 201)
	s.Ask(t, "alice", "PATCH "+repo+"/issues/1", `{"state": "closed", "state_reason": "not_planned"}`, 200)
}

// What bots ask of pull requests finds what it says, and nothing tells of a review that was not submitted.
func TestSearchPulls(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		pulls(t, s)
		for _, f := range []find{
			{q: "is:pr", want: "10 9 8 7 6"},
			{q: "head:fix", want: "8 7 6"},
			{q: "head:fix/", want: "7 6"},
			{q: "head:FIX"},
			{q: "head:fix/a head:d", want: "9 6"},
			{q: "is:pr -head:fix", want: "10 9"},
			{q: "base:next", want: "10"},
			{q: "base:nex"},
			{q: "is:pr -base:next -head:fix/", want: "9 8"},
			{q: "review:approved", want: "6"},
			{q: "review:changes_requested", want: "7"},
			{q: "review:none", want: "10 9"},
			{q: "review:required"},
			{q: "is:pr -review:approved", want: "10 9 8 7"},
			{q: "reviewed-by:bob", want: "7 6"},
			{q: "reviewed-by:bob reviewed-by:carol", want: "7 6"},
			{q: "reviewed-by:@me", as: "carol", want: "8 7 6"},
			{q: "review-requested:bob", want: "9"},
			{q: "user-review-requested:@me", as: "bob", want: "9"},
			{q: "is:pr -review-requested:bob head:d"},
			{q: "status:success", want: "6"},
			{q: "status:failure", want: "7"},
			{q: "status:pending", want: "8"},
			{q: "is:pr -status:failure -status:pending", want: "10 9 6"},
			{q: `reason:"not planned"`, want: "1"},
			{q: "reason:not-planned", want: "1"},
			{q: "reason:completed", want: "5"},
			{q: "reason:completed reason:not_planned", want: "5 1"},
		} {
			f.check(t, s)
		}
		s.Check(t, apitest.Case{Do: "GET /search/issues?q=reviewed-by:nobody-here", Status: 422})
	})
}

// Parentheses, AND, OR and NOT mean what they mean at GitHub, and no scope is lost: nobody takes an answer
// for more or for less than it is.
func TestSearchBoolean(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		for _, f := range []find{
			{q: "(repo:alice/garden) is:issue", want: "5 4 3 2 1"},
			{q: "repo:alice/garden AND (is:issue AND is:closed)", want: "5"},
			{q: "label:wontfix OR author:carol", want: "5 4 3"},
			{q: "repo:guild/hall OR (repo:alice/garden label:wontfix)", want: "guild/hall#1 5"},
			{q: "(repo:guild/hall OR repo:alice/garden) author:bob", want: "guild/hall#1 2"},
			{q: "repo:alice/garden -(label:bug OR author:carol)", want: "5"},
			{q: "repo:alice/garden NOT (label:bug OR (author:carol is:locked))", want: "5 3"},
			{q: "lait OR heart", want: "3"},
			{q: "lait OR heart", as: "alice", want: "alice/diary#1 3"},
			{q: "repo:alice/garden (lait OR slow OR start)", want: "3 2 1"},
			{q: "crash AND NOT parser", want: "guild/hall#1"},
			{q: "in:title (crash OR news)", want: "5 1"},
			{q: "(crash in:title) OR (crash in:comments)", want: "3 1"},
			{q: "author:carol (author:bob OR author:carol)", want: "4 3"},
			{q: "(author:bob) (author:carol)"},
			{q: "repo:alice/nothing OR label:wontfix repo:alice/garden", want: "5"},
			{q: "repo:alice/garden -(author:nobody-here)", want: "5 4 3 2 1"},
			{q: "is:private OR label:wontfix", want: "5"},
			{q: "is:private OR label:wontfix", as: "alice", want: "alice/diary#1 5"},
			{q: "-is:private label:wontfix", as: "alice", want: "5"},
			{q: "(is:open is:closed) OR label:wontfix", want: "5"},
			{q: "label:wontfix OR label:bug sort:created-asc", want: "1 2 5"},
			{q: `repo:alice/garden "(" OR label:wontfix`, want: "5 4 3 2 1"},
		} {
			f.check(t, s)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /search/issues?q=(repo:alice/diary)+secretword", As: "bob", Status: 422},
			{Do: "GET /search/issues?q=(repo:alice/garden", Status: 422,
				Want: `{"errors": [{"field": "q", "code": "invalid",
				"message": "A parenthesis is not closed: quote it if it is meant as text. (at character 19)"}]}`},
			{Do: "GET /search/issues?q=crash+created:%3E2020-01-01T00:00:00+02:00", Status: 200,
				Want: `{"total_count": 4}`},
		})
	})
}

// Bots look for issues that nobody works on, and for pull requests that say for what they are: by the texts
// of pull requests as they are now, as GraphQL tells of them.
func TestSearchLinked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "eve")
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

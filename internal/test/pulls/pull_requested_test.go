package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Who is to look at a change is asked by name, sees it in the payload, and is
// asked no longer once somebody takes it back.
func TestRequestedReviewers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.User(t, "rita")
		s.Org(t, "guild", "alice")
		const path = "/repos/alice/plot/pulls/1/requested_reviewers"
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201,
				Want: `{"requested_reviewers": [], "requested_teams": []}`},
			{Do: "GET " + path, Status: 200, Body: `{"users":[],"teams":[]}`},
			{Name: "by the author", Do: "POST " + path, As: "sam",
				Send: `{"reviewers": ["WILL", "rita", "will"]}`, Status: 201,
				Want: `{"number": 1, "requested_reviewers": [{"login": "will"}, {"login": "rita"}], "mergeable": "$absent"}`},
			{Name: "by who may push, again", Do: "POST " + path, As: "will",
				Send: `{"reviewers": ["rita"], "team_reviewers": []}`, Status: 201,
				Want: `{"requested_reviewers": [{}, {}]}`},
			{Do: "GET " + path, Status: 200,
				Want: `{"users": [{"login": "will"}, {"login": "rita"}], "teams": []}`},
			{Do: "GET /repos/alice/plot/pulls", Status: 200,
				Want: `[{"requested_reviewers": [{"login": "will"}, {"login": "rita"}]}]`},
			{Do: "GET /repos/alice/plot/issues/1/events", Status: 200, Want: `[
				{"event": "review_requested", "actor": {"login": "sam"}, "review_requester": {"login": "sam"}, "requested_reviewer": {"login": "will"}},
				{"event": "review_requested", "requested_reviewer": {"login": "rita"}}]`},
			{Name: "asked is told", Do: "GET /repos/alice/plot/issues/1/subscription", As: "rita",
				Status: 200, Want: `{"subscribed": true}`},
			{Name: "not by anybody", Do: "POST " + path, As: "rita", Send: `{"reviewers": ["rita"]}`,
				Status: 403},
			{Name: "the author", Do: "POST " + path, As: "will", Send: `{"reviewers": ["sam"]}`, Status: 422,
				Want: `{"errors": [{"message": "Review cannot be requested from pull request author."}]}`},
			{Name: "nobody", Do: "POST " + path, As: "will",
				Send: `{"reviewers": ["alice", "nobody-here"]}`, Status: 422,
				Want: `{"errors": [{"resource": "PullRequest", "field": "reviewers", "code": "custom", "message": "$any"}]}`},
			{Name: "an organization", Do: "POST " + path, As: "will", Send: `{"reviewers": ["guild"]}`,
				Status: 422},
			{Name: "a team", Do: "POST " + path, As: "will", Send: `{"team_reviewers": ["x"]}`, Status: 422,
				Want: `{"errors": [{"field": "team_reviewers"}]}`},
			{Name: "nobody was asked by mistake", Do: "GET " + path, Status: 200,
				Want: `{"users": [{}, {}]}`},
			{Do: "DELETE " + path, As: "rita", Send: `{"reviewers": ["rita"]}`, Status: 403},
			{Do: "DELETE " + path, As: "sam", Send: `{"reviewers": ["rita", "alice", "nobody-here"]}`,
				Status: 200, Want: `{"requested_reviewers": [{"login": "will"}]}`},
			{Do: "GET /repos/alice/plot/issues/1/events", Status: 200,
				Want: `[{}, {}, {"event": "review_request_removed", "requested_reviewer": {"login": "rita"}}]`},
			{Do: "GET /repos/alice/plot/pulls/9/requested_reviewers", Status: 404},
			{Do: "GET /repos/alice/plot/pulls/01/requested_reviewers", Status: 404},
			{Name: "an issue", Do: "POST /repos/alice/plot/issues", As: "sam", Send: `{"title": "x"}`,
				Status: 201, Want: `{"number": 2}`},
			{Do: "POST /repos/alice/plot/pulls/2/requested_reviewers", As: "alice",
				Send: `{"reviewers": ["will"]}`, Status: 404},
		})
		for _, send := range []string{`{}`, `{"reviewers": null}`, `{"reviewers": "will"}`,
			`{"reviewers": [1]}`, `{"reviewers": [null]}`,
			`{"reviewers": {}}`, `{"reviewers": true}`, `{"team_reviewers": 7}`,
			`{"reviewers": ["a\u0000"]}`} {
			for _, method := range []string{"POST", "DELETE"} {
				s.Check(t, apitest.Case{Do: method + " " + path, As: "sam", Send: send, Status: 422})
			}
		}
		s.Check(t, apitest.Case{Do: "POST " + path, As: "sam", Send: `[]`, Status: 400})
		names := make([]string, 15)
		for n := range names {
			names[n] = fmt.Sprintf(`"u%d"`, n)
			s.User(t, fmt.Sprintf("u%d", n))
		}
		s.Check(t, apitest.Case{Name: "too many", Do: "POST " + path, As: "sam",
			Send: `{"reviewers": [` + strings.Join(names, ",") + `]}`, Status: 422})
		s.Ask(t, "sam", "POST "+path, `{"reviewers": [`+strings.Join(names[1:], ",")+`]}`, 201)
	})
}

// Nobody may be asked who does not see the repository: the payload and the
// notification would tell of it.
func TestRequestedReviewersOfPrivateRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.User(t, "rita")
		vault := s.Repo(t, "alice/vault", true)
		s.Grant(t, vault, "will", account.Pull)
		s.Ask(t, "alice", "PUT /repos/alice/vault/contents/a", `{"message": "a", "content": ""}`, 201)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/vault/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/b", "sha": "` + s.Tip(t, "alice", "alice/vault", "main") + `"}`})
		commit(t, s, "alice/vault", "b", "b", "b")
		const path = "/repos/alice/vault/pulls/1/requested_reviewers"
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/vault/pulls", As: "alice",
				Send: `{"title": "b", "head": "b", "base": "main"}`, Status: 201},
			{Do: "POST " + path, As: "alice", Send: `{"reviewers": ["rita"]}`, Status: 422},
			{Do: "POST " + path, As: "alice", Send: `{"reviewers": ["will"]}`, Status: 201},
			{Do: "POST " + path, As: "rita", Send: `{"reviewers": ["will"]}`, Status: 404},
			{Do: "GET " + path, Status: 404},
			{Do: "GET " + path, As: "will", Status: 200, Want: `{"users": [{"login": "will"}]}`},
		})
	})
}

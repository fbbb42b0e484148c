package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// numbered is the JSON of a list of issues with these numbers.
func numbered(numbers ...int) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = fmt.Sprintf(`{"number": %d}`, n)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// Each parameter of a repository's list chooses what its row of the interface
// says, alone and together with others.
func TestListOfRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		file := func(as, body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: as, Send: body, Status: 201})
		}
		s.Ask(t, "will", "POST /repos/garden/plot/milestones", `{"title": "Spring"}`, 201)
		file("sam", `{"title": "one", "body": "for @will"}`)
		file("will", `{"title": "two", "labels": ["Mud", "rain"], "assignee": "will"}`)
		file("will", `{"title": "three", "labels": ["mud"], "milestone": 1}`)
		file("alice", `{"title": "four", "assignee": "alice", "milestone": 1}`)
		for _, c := range []string{`{"state": "closed"}`} {
			s.Ask(t, "will", "PATCH /repos/garden/plot/issues/3", c, 200)
		}
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "more"}`, 201)
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "and more"}`, 201)
		s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues/2/comments", As: "rae",
			Send: `{"body": "@rae, note this, @alice"}`, Status: 201})
		for query, want := range map[string]string{
			"":                               numbered(4, 2, 1),
			"state=open":                     numbered(4, 2, 1),
			"state=closed":                   numbered(3),
			"state=all":                      numbered(4, 3, 2, 1),
			"state=all&direction=asc":        numbered(1, 2, 3, 4),
			"state=all&direction=desc":       numbered(4, 3, 2, 1),
			"sort=created&direction=asc":     numbered(1, 2, 4),
			"state=all&sort=updated":         numbered(2, 1, 3, 4),
			"sort=updated&direction=asc":     numbered(4, 1, 2),
			"state=all&sort=comments":        numbered(1, 2, 4, 3),
			"sort=comments&direction=asc":    numbered(4, 2, 1),
			"labels=MUD":                     numbered(2),
			"labels=mud&state=all":           numbered(3, 2),
			"labels=mud,rain":                numbered(2),
			"labels=rain, Mud,,rain":         numbered(2),
			"labels=mud,snow":                numbered(),
			"labels=bug":                     numbered(),
			"labels=":                        numbered(4, 2, 1),
			"milestone=1":                    numbered(4),
			"milestone=1&state=all":          numbered(4, 3),
			"milestone=*&state=all":          numbered(4, 3),
			"milestone=none":                 numbered(2, 1),
			"assignee=will":                  numbered(2),
			"assignee=WILL":                  numbered(2),
			"assignee=*":                     numbered(4, 2),
			"assignee=none&state=all":        numbered(3, 1),
			"assignee=sam":                   numbered(),
			"assignee=nobody-there":          numbered(),
			"creator=will&state=all":         numbered(3, 2),
			"creator=Sam":                    numbered(1),
			"creator=<>":                     numbered(),
			"mentioned=will":                 numbered(1),
			"mentioned=alice":                numbered(2),
			"mentioned=garden":               numbered(),
			"creator=will&labels=mud":        numbered(2),
			"milestone=1&assignee=*":         numbered(4),
			"since=2001-01-01T00:00:00Z":     numbered(4, 2, 1),
			"since=2201-01-01T00:00:00Z":     numbered(),
			"per_page=1&page=2":              numbered(2),
			"per_page=2&page=2&state=all":    numbered(2, 1),
			"per_page=2&page=9":              numbered(),
			"state=&sort=&direction=&since=": numbered(4, 2, 1),
		} {
			s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues?" + strings.ReplaceAll(query, " ",
				"%20"), Status: 200, Want: want})
		}
		bad := func(query, field string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues?" + query, Status: 422,
				Want: `{"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "` + field +
					`", "code": "invalid"}]}`})
		}
		bad("state=foo", "state")
		bad("state=Open", "state")
		bad("sort=foo", "sort")
		bad("sort=popularity", "sort")
		bad("direction=up", "direction")
		bad("since=yesterday", "since")
		bad("since=2001-13-01T00:00:00Z", "since")
		bad("milestone=2", "milestone")
		bad("milestone=Spring", "milestone")
		bad("milestone=-1", "milestone")
		bad("milestone=99999999999999999999", "milestone")
		s.Run(t, []apitest.Case{
			{Name: "parameters stay in the links, and no others are added",
				Do: "GET /repos/garden/plot/issues?state=all&per_page=1&page=2", Status: 200,
				Has: map[string]string{
					"Link": `<{base}/repos/garden/plot/issues?state=all&per_page=1&page=3>; rel="next", <{base}/repos/garden/plot/issues?state=all&per_page=1&page=4>; rel="last", ` +
						`<{base}/repos/garden/plot/issues?state=all&per_page=1&page=1>; rel="first", <{base}/repos/garden/plot/issues?state=all&per_page=1&page=1>; rel="prev"`}},
			{Name: "a repository that is not there comes before its parameters",
				Do: "GET /repos/garden/none/issues?state=foo", Status: 404},
			{Name: "switched off", Do: "PATCH /repos/garden/plot", As: "alice", Send: `{"has_issues": false}`,
				Status: 200},
			{Do: "GET /repos/garden/plot/issues", Status: 410,
				Want: `{"message": "Issues are disabled for this repo"}`},
			{Do: "GET /repos/garden/plot/issues/1", Status: 410},
			{Do: "POST /repos/garden/plot/issues", As: "sam", Send: `{"title": "x"}`, Status: 410},
			{Do: "PATCH /repos/garden/plot/issues/1", As: "sam", Send: `{"title": "x"}`, Status: 410},
		})
	})
}

// The three lists across repositories hold what their filters say, of the
// repositories that they span, and nothing of others (decision 14).
func TestListsAcrossRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Repo(t, "will/own", false)
		s.Repo(t, "sam/else", false)
		file := func(as, repo, body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/" + repo + "/issues", As: as, Send: body, Status: 201})
		}
		file("sam", "garden/plot", `{"title": "plot one", "body": "@will and @alice"}`)
		file("will", "garden/plot", `{"title": "plot two", "assignee": "will", "labels": ["mud"]}`)
		file("rae", "garden/shed", `{"title": "shed one"}`)
		file("will", "will/own", `{"title": "own one", "labels": ["Mud"]}`)
		file("will", "sam/else", `{"title": "else one"}`)
		s.Ask(t, "will", "POST /repos/garden/shed/issues/1/comments", `{"body": "I looked"}`, 201)
		titles := func(list ...string) string {
			for i, title := range list {
				list[i] = `{"title": "` + title +
					`", "repository": {"full_name": "$any", "permissions": "$any"}}`
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		for _, c := range []struct{ as, do, want string }{
			{"will", "/issues", titles("plot two")},
			{"will", "/issues?filter=assigned", titles("plot two")},
			{"will", "/issues?filter=created", titles("own one", "plot two")},
			{"will", "/issues?filter=mentioned", titles("plot one")},
			{"will", "/issues?filter=subscribed", titles("own one", "shed one", "plot two", "plot one")},
			{"will", "/issues?filter=all", titles("own one", "shed one", "plot two", "plot one")},
			{"will", "/user/issues?filter=all", titles("own one", "shed one", "plot two", "plot one")},
			{"will", "/issues?filter=all&labels=mud", titles("own one", "plot two")},
			{"will", "/issues?filter=all&labels=mud&direction=asc", titles("plot two", "own one")},
			{"will", "/issues?filter=all&state=closed", titles()},
			{"will", "/issues?filter=all&sort=updated",
				titles("shed one", "own one", "plot two", "plot one")},
			{"will", "/issues?filter=all&sort=comments",
				titles("shed one", "own one", "plot two", "plot one")},
			{"will", "/issues?filter=all&since=2201-01-01T00:00:00Z", titles()},
			{"will", "/orgs/garden/issues?filter=all", titles("shed one", "plot two", "plot one")},
			{"sam", "/issues?filter=all", titles("else one")},
			{"sam", "/issues?filter=created", titles()},
			{"sam", "/user/issues?filter=all", titles("else one")},
			{"sam", "/orgs/garden/issues?filter=all", titles("plot two", "plot one")},
			{"sam", "/orgs/garden/issues?filter=created", titles("plot one")},
			{"alice", "/issues?filter=all", titles("shed one", "plot two", "plot one")},
			{"alice", "/user/issues?filter=all", titles()},
			{"alice", "/issues?filter=mentioned", titles("plot one")},
			{"rae", "/issues?filter=all", titles("shed one")},
		} {
			s.Check(t, apitest.Case{Do: "GET " + c.do, As: c.as, Status: 200, Want: c.want})
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /issues", Status: 401, Want: `{"message": "Requires authentication"}`},
			{Do: "GET /user/issues", Status: 401},
			{Do: "GET /orgs/garden/issues", Status: 401},
			{Do: "GET /orgs/nowhere/issues?filter=x", As: "will", Status: 404},
			{Do: "GET /orgs/will/issues", As: "will", Status: 404},
			{Do: "GET /issues?filter=mine", As: "will", Status: 422,
				Want: `{"errors": [{"resource": "Issue", "field": "filter", "code": "invalid", "value": "mine"}]}`},
			{Do: "GET /user/issues?state=x", As: "will", Status: 422,
				Want: `{"errors": [{"field": "state"}]}`},
			{Do: "GET /orgs/garden/issues?since=x", As: "will", Status: 422,
				Want: `{"errors": [{"field": "since"}]}`},
			{Name: "the total counts what is shown and no more",
				Do: "GET /orgs/garden/issues?filter=all&per_page=1", As: "sam", Status: 200,
				Has: map[string]string{
					"Link": `<{base}/orgs/garden/issues?filter=all&per_page=1&page=2>; rel="next", <{base}/orgs/garden/issues?filter=all&per_page=1&page=2>; rel="last"`}},
			{Name: "switched off", Do: "PATCH /repos/will/own", As: "will", Send: `{"has_issues": false}`,
				Status: 200},
			{Do: "GET /user/issues?filter=created", As: "will", Status: 200, Want: titles("plot two")},
		})
	})
}

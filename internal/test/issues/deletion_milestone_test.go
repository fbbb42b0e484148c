package issues_test

import (
	"strings"
	"testing"

	"arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

const deletionMilestones = "/repos/garden/plot/milestones"

// A deleted milestone lets its issues go, which keep their dates and say what
// happened; its number is not used again.
func TestDeleteMilestone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, title := range []string{"one", "two"} {
			s.Ask(t, "will", "POST "+deletionMilestones, `{"title": "`+title+`"}`, 201)
		}
		for _, m := range []string{"1", "1", "2", "null"} {
			s.Ask(t, "will", "POST /repos/garden/plot/issues", `{"title": "x", "milestone": `+m+`}`, 201)
		}
		s.Ask(t, "will", "PATCH /repos/garden/plot/issues/2", `{"state": "closed"}`, 200)
		var before, after struct {
			Updated string `json:"updated_at"`
		}
		s.Do(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1"}).JSON(t, &before)
		s.Check(t, apitest.Case{Do: "DELETE " + deletionMilestones + "/1", As: "will", Status: 204, Body: "-"})
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1", Status: 200,
			Want: `{"milestone": null}`}).JSON(t, &after)
		if before != after {
			t.Errorf("updated_at went from %s to %s", before.Updated, after.Updated)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + deletionMilestones + "/1", Status: 404},
			{Do: "GET " + deletionMilestones + "/2", Status: 200, Want: `{"open_issues": 1}`},
			{Do: "POST " + deletionMilestones, As: "will", Send: `{"title": "one"}`, Status: 201,
				Want: `{"number": 3, "open_issues": 0, "closed_issues": 0}`},
			{Name: "in any", Do: "GET /repos/garden/plot/issues?milestone=*&state=all", Status: 200,
				Want: `[{"number": 3}]`},
			{Name: "in none", Do: "GET /repos/garden/plot/issues?milestone=none&state=all", Status: 200,
				Want: `[{"number": 4}, {"number": 2}, {"number": 1}]`},
			{Name: "back into one", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"milestone": 3}`, Status: 200, Want: `{"milestone": {"open_issues": 1}}`},
			{Name: "and out", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"milestone": null}`, Status: 200, Want: `{"milestone": null}`},
		})
		issuetest.CheckIndex(t, s)
	})
}

// A milestone with many issues is gone at once, and they leave it soon, in transactions of a bounded size.
func TestDeletedMilestoneLeavesManyIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		const at = "/repos/alice/plot/milestones"
		for _, title := range []string{"one", "two"} {
			s.Ask(t, "alice", "POST "+at, `{"title": "`+title+`"}`, 201)
		}
		crowdOf(t, s, r, alice, 450, issue.NewIssue{Title: "x", Milestone: 1})
		crowdOf(t, s, r, alice, 3, issue.NewIssue{Title: "x", Milestone: 2})
		s.Run(t, []apitest.Case{
			{Do: "DELETE " + at + "/1", As: "alice", Status: 204, Body: "-"},
			{Do: "GET " + at + "/1", Status: 404},
			{Name: "gone from payloads at once", Do: "GET /repos/alice/plot/issues/450", Status: 200,
				Want: `{"milestone": null}`},
		})
		gone(t, s, `SELECT count(*) FROM deleted_milestones`)
		for _, number := range []string{"2", "230", "450"} {
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/plot/issues/" + number + "/events"})
			if n := strings.Count(string(a.Body), `"event":"demilestoned"`); n != 1 {
				t.Errorf("issue %s notes the deletion %d times: %s", number, n, a.Body)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "in none", Do: "GET /repos/alice/plot/issues?milestone=none&state=all&per_page=1",
				Status: 200, Want: `[{"number": 450}]`},
			{Name: "in the other", Do: "GET /repos/alice/plot/issues?milestone=*&state=all", Status: 200,
				Want: `[{"number": 453}, {"number": 452}, {"number": 451}]`},
			{Do: "GET " + at + "/2", Status: 200, Want: `{"open_issues": 2, "closed_issues": 1}`},
		})
		issuetest.CheckIndex(t, s)
	})
}

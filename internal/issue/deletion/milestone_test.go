package deletion_test

import (
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/issue/issuetest"
)

const milestones = "/repos/garden/plot/milestones"

// A deleted milestone lets its issues go, which keep their dates and say what
// happened; its number is not used again.
func TestDeleteMilestone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, title := range []string{"one", "two"} {
			s.Check(t, apitest.Case{Do: "POST " + milestones, As: "will", Send: `{"title": "` + title + `"}`,
				Status: 201})
		}
		for _, m := range []string{"1", "1", "2", "null"} {
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "will",
				Send: `{"title": "x", "milestone": ` + m + `}`, Status: 201})
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/garden/plot/issues/2", As: "will",
			Send: `{"state": "closed"}`, Status: 200})
		var before, after struct {
			Updated string `json:"updated_at"`
		}
		s.Do(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1"}).JSON(t, &before)
		s.Check(t, apitest.Case{Do: "DELETE " + milestones + "/1", As: "will", Status: 204, Body: "-"})
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1", Status: 200,
			Want: `{"milestone": null}`}).JSON(t, &after)
		if before != after {
			t.Errorf("updated_at went from %s to %s", before.Updated, after.Updated)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + milestones + "/1", Status: 404},
			{Do: "GET " + milestones + "/2", Status: 200, Want: `{"open_issues": 1}`},
			{Do: "POST " + milestones, As: "will", Send: `{"title": "one"}`, Status: 201,
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

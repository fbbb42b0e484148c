package repos_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
)

// Everybody who sees a release can react to it with GitHub's six contents for releases, and its payload
// counts them. That does not reveal drafts. Reactions are deleted with their release.
func TestReactionsToReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const at = "/repos/garden/plot/releases"
		s.Check(t, apitest.Case{Do: "PUT /repos/garden/plot/contents/a", As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		var shown, draft, made struct{ ID int64 }
		s.Ask(t, "will", "POST "+at, `{"tag_name": "v1", "body": "Peas"}`, 201).JSON(t, &shown)
		s.Ask(t, "will", "POST "+at, `{"tag_name": "v2", "draft": true}`, 201).JSON(t, &draft)
		one, two := fmt.Sprint(at, "/", shown.ID), fmt.Sprint(at, "/", draft.ID)
		none := func(a *apitest.Answer) {
			var v map[string]any
			if a.JSON(t, &v); v["reactions"] != nil {
				t.Errorf("a release without reactions has %v", v["reactions"])
			}
		}
		cases := []apitest.Case{
			{Name: "none yet", Do: "GET " + one + "/reactions", Status: 200, Body: "[]"},
			{Name: "nothing to count", Do: "GET " + one, Status: 200, Keep: none},
			{Name: "who may read", Do: "POST " + one + "/reactions", As: "rae", Send: `{"content": "rocket"}`, Status: 201,
				Want: `{"content": "rocket", "user": {"login": "rae"}}`,
				Keep: func(a *apitest.Answer) { a.JSON(t, &made) }},
			{Name: "again", Do: "POST " + one + "/reactions", As: "rae", Send: `{"content": "rocket"}`, Status: 200},
			{Name: "another", Do: "POST " + one + "/reactions", As: "sam", Send: `{"content": "+1"}`, Status: 201},
			{Name: "not of releases", Do: "POST " + one + "/reactions", As: "sam", Send: `{"content": "-1"}`, Status: 422,
				Want: `{"errors": [{"resource": "Reaction", "field": "content", "code": "invalid"}]}`},
			{Name: "nothing", Do: "POST " + one + "/reactions", As: "sam", Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "Reaction", "field": "content", "code": "missing_field"}]}`},
			{Name: "nobody", Do: "POST " + one + "/reactions", Send: `{"content": "eyes"}`, Status: 401},
			{Name: "one content", Do: "GET " + one + "/reactions?content=rocket", Status: 200, Want: `[{"content": "rocket"}]`},
			{Name: "none of releases", Do: "GET " + one + "/reactions?content=confused", Status: 422,
				Want: `{"errors": [{"field": "content", "code": "invalid", "value": "confused"}]}`},
			{Name: "counted", Do: "GET " + one, Status: 200, Want: `{"reactions": {"url": "{base}` + one +
				`/reactions", "total_count": 2, "+1": 1, "-1": 0, "rocket": 1}}`},
			{Name: "in lists", Do: "GET " + at + "/latest", Status: 200, Want: `{"reactions": {"total_count": 2}}`},
			{Name: "a draft", Do: "POST " + two + "/reactions", As: "rae", Send: `{"content": "heart"}`, Status: 404},
			{Name: "of a draft", Do: "GET " + two + "/reactions", As: "rae", Status: 404},
			{Name: "its writers", Do: "POST " + two + "/reactions", As: "will", Send: `{"content": "heart"}`, Status: 201},
		}
		for n := range cases {
			cases[n].Headers = issuetest.Graduated
		}
		s.Run(t, cases)
		preview := apitest.Case{Name: "a preview", Do: "GET " + one + "/reactions", Status: 415}
		s.Check(t, preview)
		s.Check(t, apitest.Case{Do: "GET " + one, Status: 200, Keep: none})
		s.Check(t, apitest.Case{Name: "another's", Do: fmt.Sprint("DELETE ", one, "/reactions/", made.ID), As: "sam",
			Headers: issuetest.Graduated, Status: 403})
		own := apitest.Case{Do: fmt.Sprint("DELETE ", one, "/reactions/", made.ID), As: "rae", Headers: issuetest.Graduated,
			Status: 204}
		s.Check(t, own)
		own.Status = 404
		s.Check(t, own)

		kept := func() int64 { return dbtest.Number(t, s.DB, `SELECT count(*) FROM reactions`) }
		s.Ask(t, "will", "DELETE "+one, "", 204)
		s.Check(t, apitest.Case{Do: "GET " + one + "/reactions", Headers: issuetest.Graduated, Status: 404})
		s.Visit(t, "will", "POST /garden/plot/releases/deleted", "id", fmt.Sprint(shown.ID), "do", "remove")
		if n := kept(); n != 1 {
			t.Errorf("%d reactions are left when a release with one was removed, and a draft with one stays", n)
		}
	})
}

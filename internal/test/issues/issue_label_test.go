package issues_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// repeated writes s n times.
func repeated(s string, n int) string { return strings.Repeat(s, n) }

// The labels of an issue are added, replaced and taken off as GitHub's clients
// do it; a list that they send in any form of GitHub's is understood.
func TestIssueLabels(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Ask(t, "sam", "POST /repos/garden/plot/issues", `{"title": "Slugs"}`, 201)
		const labels = "/repos/garden/plot/issues/1/labels"
		names := func(list ...string) string {
			for i, n := range list {
				list[i] = fmt.Sprintf(`{"name": %q}`, n)
			}
			return "[" + strings.Join(list, ",") + "]"
		}
		s.Run(t, []apitest.Case{
			{Name: "none", Do: "GET " + labels, Status: 200, Body: "[]"},
			{Name: "add, and make one", Do: "POST " + labels, As: "will", Send: `{"labels": ["BUG", "Wet"]}`,
				Status: 200, Want: names("bug", "Wet")},
			{Name: "objects", Do: "POST " + labels, As: "will",
				Send: `{"labels": [{"name": "wet"}, {"name": "question", "color": "x"}]}`, Status: 200,
				Want: names("bug", "Wet", "question")},
			{Name: "a bare array", Do: "POST " + labels, As: "will", Send: ` ["invalid", "INVALID"]`,
				Status: 200, Want: names("bug", "Wet", "question", "invalid")},
			{Name: "a bare array of objects", Do: "POST " + labels, As: "will", Send: `[{"name": "bug"}]`,
				Status: 200, Want: names("bug", "Wet", "question", "invalid")},
			{Name: "nothing to add", Do: "POST " + labels, As: "will", Send: `{"labels": []}`, Status: 200,
				Want: names("bug", "Wet", "question", "invalid")},
			{Name: "a page of them", Do: "GET " + labels + "?per_page=3&page=2", Status: 200,
				Want: names("invalid")},
			{Name: "past the end", Do: "GET " + labels + "?per_page=3&page=9", Status: 200, Body: "[]"},
			{Name: "the one that was made", Do: "GET /repos/garden/plot/labels/wet", Status: 200,
				Want: `{"name": "Wet", "color": "ededed", "default": false}`},
			{Name: "take one off", Do: "DELETE " + labels + "/QUESTION", As: "will", Status: 200,
				Want: names("bug", "Wet", "invalid")},
			{Name: "which is not on it then", Do: "DELETE " + labels + "/question", As: "will", Status: 404,
				Want: `{"message": "Label does not exist"}`},
			{Name: "nor is what there is not", Do: "DELETE " + labels + "/nonsense", As: "will", Status: 404,
				Want: `{"message": "Label does not exist"}`},
			{Name: "replace", Do: "PUT " + labels, As: "will", Send: `{"labels": ["wet", "wontfix"]}`,
				Status: 200, Want: names("Wet", "wontfix")},
			{Name: "replace by nothing", Do: "PUT " + labels, As: "will", Send: `{"labels": []}`,
				Status: 200, Body: "[]"},
			{Name: "replace by a bare array", Do: "PUT " + labels, As: "will", Send: `["wet"]`, Status: 200,
				Want: names("Wet")},
			{Name: "replace by a bare empty array", Do: "PUT " + labels, As: "will", Send: `[]`,
				Status: 200, Body: "[]"},
			{Name: "some again", Do: "PUT " + labels, As: "will", Send: `["wet", "bug"]`, Status: 200,
				Want: names("Wet", "bug")},
			{Name: "clear", Do: "DELETE " + labels, As: "will", Status: 204, Body: "-"},
			{Name: "cleared", Do: "GET " + labels, Status: 200, Body: "[]"},
			{Name: "the author may not add", Do: "POST " + labels, As: "sam", Send: `["bug"]`, Status: 403},
			{Name: "nor replace", Do: "PUT " + labels, As: "sam", Send: `["bug"]`, Status: 403},
			{Name: "nor clear", Do: "DELETE " + labels, As: "sam", Status: 403},
			{Name: "nor take off", Do: "DELETE " + labels + "/bug", As: "sam", Status: 403},
			{Name: "an issue that there is not", Do: "POST /repos/garden/plot/issues/2/labels", As: "will",
				Send: `["bug"]`, Status: 404},
			{Name: "an issue of another repository", Do: "GET /repos/garden/shed/issues/1/labels", As: "will",
				Status: 404},
			{Name: "no number", Do: "GET /repos/garden/plot/issues/1x/labels", Status: 404},
			{Name: "not a number of ours", Do: "GET /repos/garden/plot/issues/99999999999999999999/labels",
				Status: 404},
		})
		many := make([]string, 100)
		for i := range many {
			many[i] = fmt.Sprintf("l%d", i)
		}
		full, _ := json.Marshal(many)
		for _, c := range []apitest.Case{
			{Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "Issue", "field": "labels", "code": "missing_field"}]}`},
			{Send: `{"labels": null}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "missing_field"}]}`},
			{Send: `{"labels": "bug"}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `{"labels": 5}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `{"labels": {"name": "bug"}}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `{"labels": [null]}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `{"labels": [5]}`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `["bug", {"name": "wet"}]`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `[{"color": "ffffff"}]`, Status: 422,
				Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `["a\u0000"]`, Status: 422, Want: `{"errors": [{"field": "labels", "code": "invalid"}]}`},
			{Send: `[{"name": "a\u0000"}]`, Status: 422},
			{Send: `["` + repeated("x", 51) + `"]`, Status: 422},
			{Send: `[{"name": "` + repeated("x", 51) + `"}]`, Status: 422,
				Want: `{"errors": [{"resource": "Label", "field": "name", "code": "custom"}]}`},
			{Send: `["bug", ""]`, Status: 422,
				Want: `{"errors": [{"resource": "Label", "field": "name", "code": "missing_field"}]}`},
			{Send: strings.Replace(string(full), "]", `,"one more"]`, 1), Status: 422},
			{Send: `["bug"], "x": [1]`, Status: 400}, {Send: `["bug"`, Status: 400},
			{Send: `"bug"`, Status: 400}, {Send: `null`, Status: 400}, {Send: ``, Status: 400},
			{Send: "[\"\xff\"]", Status: 400},
		} {
			for _, method := range []string{"POST", "PUT"} {
				c.Do, c.As = method+" "+labels, "will"
				s.Check(t, c)
			}
		}
		s.Check(t, apitest.Case{Name: "a refused list makes no label",
			Do: "GET /repos/garden/plot/labels/one%20more", Status: 404})
		s.Check(t, apitest.Case{Do: "PUT " + labels, As: "will", Send: string(full), Status: 200})
		s.Check(t, apitest.Case{Do: "POST " + labels, As: "will", Send: `["one more"]`, Status: 422,
			Want: `{"errors": [{"resource": "Issue", "field": "labels", "code": "custom"}]}`})
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/labels/one%20more", Status: 404})
		s.Check(t, apitest.Case{Do: "POST " + labels, As: "will", Send: `["l5"]`, Status: 200})
	})
}

// Ids and names of one repository's labels mean nothing to another, whose
// labels a caller may not even know of.
func TestLabelsOfTwoRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Grant(t, s.Repo(t, "sam/yard", false), "will", account.Push)
		for _, name := range []string{"garden/shed", "sam/yard"} {
			s.Check(t, apitest.Case{Do: "POST /repos/" + name + "/labels", As: "will",
				Send: `{"name": "same", "description": "of ` + name + `"}`, Status: 201})
			s.Check(t, apitest.Case{Do: "POST /repos/" + name + "/issues", As: "will",
				Send: `{"title": "x", "labels": ["SAME"]}`, Status: 201,
				Want: `{"labels": [{"description": "of ` + name + `"}]}`})
		}
		s.Run(t, []apitest.Case{
			{Do: "DELETE /repos/garden/shed/labels/same", As: "sam", Status: 404},
			{Do: "GET /repos/garden/shed/issues/1/labels", As: "sam", Status: 404},
			{Do: "DELETE /repos/sam/yard/labels/same", As: "sam", Status: 204},
			{Do: "GET /repos/garden/shed/issues/1/labels", As: "rae", Status: 200,
				Want: `[{"description": "of garden/shed"}]`},
			{Do: "GET /repos/sam/yard/issues/1/labels", As: "rae", Status: 200, Body: "[]"},
		})
	})
}

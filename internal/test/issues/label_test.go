package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Every repository begins with GitHub's labels, no matter who makes it and however
// (decision 32).
func TestDefaults(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "sam", Send: `{"name": "empty"}`, Status: 201})
		s.Ask(t, "sam", "POST /user/repos", `{"name": "begun", "auto_init": true}`, 201)
		for _, name := range []string{"garden/plot", "sam/empty", "sam/begun"} {
			s.Check(t, apitest.Case{Do: "GET /repos/" + name + "/labels", Status: 200,
				Has: map[string]string{"Link": "-"}, Want: `[
				{"name": "bug", "color": "d73a4a", "default": true, "description": "Something isn't working", "url": "{base}/repos/` + name + `/labels/bug"},
				{"name": "documentation", "color": "0075ca"}, {"name": "duplicate", "color": "cfd3d7"}, {"name": "enhancement", "color": "a2eeef"},
				{"name": "good first issue", "color": "7057ff", "url": "{base}/repos/` + name + `/labels/good%20first%20issue"},
				{"name": "help wanted", "color": "008672"}, {"name": "invalid", "color": "e4e669"}, {"name": "question", "color": "d876e3"},
				{"name": "wontfix", "color": "ffffff", "default": true}]`})
		}
	})
}

// A maintainer creates labels, finds them in any case, changes and deletes them. Issues show the current
// labels.
func TestLabels(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const labels = "/repos/garden/plot/labels"
		const pest = `{"id": "$any", "node_id": "$any", "url": "{base}/repos/garden/plot/labels/area%2FPest%3F%20%25",
			"name": "area/Pest? %", "color": "f29513", "default": false, "description": "They bite"}`
		const there = labels + "/AREA%2fpest%3f%20%25"
		s.Run(t, []apitest.Case{
			{Name: "make", Do: "POST " + labels, As: "will",
				Send: `{"name": "area/Pest? %", "color": "#F29513", "description": "They bite"}`, Status: 201,
				Want: pest, Has: map[string]string{
					"Location": "{base}/repos/garden/plot/labels/area%2FPest%3F%20%25"}},
			{Name: "read, in another case", Do: "GET " + there, Status: 200, Want: pest},
			{Name: "without a colour", Do: "POST " + labels, As: "will",
				Send: `{"name": "Über", "color": null, "description": ""}`, Status: 201,
				Want: `{"name": "Über", "color": "ededed", "description": null}`},
			{Name: "taken", Do: "POST " + labels, As: "will", Send: `{"name": "ÜBER"}`, Status: 422,
				Want: `{"message": "Validation Failed", "errors": [{"resource": "Label", "field": "name", "code": "already_exists"}]}`},
			{Name: "not for readers", Do: "POST " + labels, As: "rae", Send: `{"name": "x"}`, Status: 403},
			{Name: "an issue has it", Do: "POST /repos/garden/plot/issues", As: "will",
				Send: `{"title": "Slugs", "labels": ["area/pest? %"]}`, Status: 201,
				Want: `{"labels": [` + pest + `]}`},
			{Name: "as payloads show", Do: "GET /repos/garden/plot/issues/1", Status: 200,
				Want: `{"labels": [` + pest + `]}`},
			{Name: "rename", Do: "PATCH " + there, As: "will",
				Send: `{"new_name": "Slugs", "color": "ABCDEF"}`, Status: 200,
				Want: `{"name": "Slugs", "color": "abcdef", "description": "They bite"}`},
			{Name: "the old name is gone", Do: "GET " + there, Status: 404},
			{Name: "the issue shows the new one", Do: "GET /repos/garden/plot/issues/1", Status: 200,
				Want: `{"labels": [{"name": "Slugs", "color": "abcdef"}]}`},
			{Name: "only the case changes, by name", Do: "PATCH " + labels + "/slugs", As: "will",
				Send: `{"name": "SLUGS", "description": null}`, Status: 200,
				Want: `{"name": "SLUGS", "description": null}`},
			{Name: "new_name wins", Do: "PATCH " + labels + "/slugs", As: "will",
				Send: `{"name": "a", "new_name": "Slugs"}`, Status: 200, Want: `{"name": "Slugs"}`},
			{Name: "nothing changes", Do: "PATCH " + labels + "/slugs", As: "will",
				Send: `{"new_name": null, "color": null}`, Status: 200,
				Want: `{"name": "Slugs", "color": "abcdef"}`},
			{Name: "another's name", Do: "PATCH " + labels + "/slugs", As: "will",
				Send: `{"new_name": "BUG"}`, Status: 422,
				Want: `{"errors": [{"resource": "Label", "field": "name", "code": "already_exists"}]}`},
			{Name: "readers change nothing", Do: "PATCH " + labels + "/slugs", As: "rae",
				Send: `{"new_name": "x"}`, Status: 403},
			{Name: "nor delete", Do: "DELETE " + labels + "/slugs", As: "rae", Status: 403},
			{Name: "by name, in pages", Do: "GET " + labels + "?per_page=2&page=5", Status: 200,
				Want: `[{"name": "Slugs"}, {"name": "wontfix"}]`, Has: map[string]string{
					"Link": `<{base}` + labels + `?per_page=2&page=6>; rel="next", <{base}` + labels +
						`?per_page=2&page=6>; rel="last", <{base}` + labels +
						`?per_page=2&page=1>; rel="first", <{base}` + labels +
						`?per_page=2&page=4>; rel="prev"`}},
			{Name: "past the end", Do: "GET " + labels + "?page=9", Status: 200, Body: "[]"},
			{Name: "not of another repository", Do: "GET /repos/garden/shed/labels/slugs", As: "will",
				Status: 404},
			{Name: "a secret one", Do: "GET /repos/garden/shed/labels", As: "sam", Status: 404},
			{Name: "delete", Do: "DELETE " + labels + "/SLUGS", As: "will", Status: 204, Body: "-"},
			{Name: "again", Do: "DELETE " + labels + "/SLUGS", As: "will", Status: 404},
			{Name: "the issue is without", Do: "GET /repos/garden/plot/issues/1", Status: 200,
				Want: `{"labels": []}`},
			{Name: "no name at all", Do: "GET " + labels + "/%00", Status: 404},
			{Name: "nor this", Do: "DELETE " + labels + "/%ff", As: "will", Status: 404},
			{Name: "issues off", Do: "PATCH /repos/garden/plot", As: "alice", Send: `{"has_issues": false}`,
				Status: 200},
			{Name: "labels stay", Do: "GET " + labels + "?per_page=1", Status: 200,
				Want: `[{"name": "bug"}]`},
			{Name: "not those of issues", Do: "GET /repos/garden/plot/issues/1/labels", Status: 410},
			{Name: "nor are they set", Do: "PUT /repos/garden/plot/issues/1/labels", As: "will",
				Send: `["bug"]`, Status: 410},
		})
	})
}

// A client that sends nonsense learns which field it is, and makes no label.
func TestBadLabels(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		long, wide := strings.Repeat("é", 50), strings.Repeat("é", 100)
		for _, c := range []struct{ body, field, code string }{
			{`{}`, "name", "missing_field"}, {`{"name": null}`, "name", "missing_field"},
			{`{"name": ""}`, "name", "missing_field"},
			{`{"name": " \t\n"}`, "name", "missing_field"}, {`{"Name": "x"}`, "name", "missing_field"},
			{`{"name": 5}`, "name", "invalid"}, {`{"name": ["x"]}`, "name", "invalid"},
			{`{"name": {}}`, "name", "invalid"}, {`{"name": true}`, "name", "invalid"},
			{`{"name": "a\u0000"}`, "name", "invalid"}, {`{"name": "` + long + `x"}`, "name", "custom"},
			{`{"name": "x", "color": ""}`, "color", "invalid"}, {`{"name": "x", "color": "#"}`, "color",
				"invalid"}, {`{"name": "x", "color": "fff"}`, "color", "invalid"},
			{`{"name": "x", "color": "##ffffff"}`, "color", "invalid"},
			{`{"name": "x", "color": "fffffg"}`, "color", "invalid"},
			{`{"name": "x", "color": "red"}`, "color", "invalid"},
			{`{"name": "x", "color": 123456}`, "color", "invalid"},
			{`{"name": "x", "color": []}`, "color", "invalid"},
			{`{"name": "x", "color": "ffffff "}`, "color", "invalid"},
			{`{"name": "x", "description": 5}`, "description", "invalid"},
			{`{"name": "x", "description": {}}`, "description", "invalid"},
			{`{"name": "x", "description": "` + wide + `x"}`, "description", "custom"},
		} {
			want := fmt.Sprintf(`{"errors": [{"resource": "Label", "field": %q, "code": %q}]}`,
				c.field, c.code)
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/labels", As: "will", Send: c.body,
				Status: 422, Want: want})
			if strings.Contains(c.body, `"name": "`) && c.field != "name" ||
				strings.Contains(c.body, `{"name": "a`) {
				s.Check(t, apitest.Case{Do: "PATCH /repos/garden/plot/labels/bug", As: "will", Send: c.body,
					Status: 422, Want: want})
			}
		}
		for _, c := range []apitest.Case{
			{Do: "PATCH /repos/garden/plot/labels/bug", Send: `{"new_name": ""}`, Status: 422,
				Want: `{"errors": [{"field": "new_name", "code": "missing_field"}]}`},
			{Do: "PATCH /repos/garden/plot/labels/bug", Send: `{"new_name": " "}`, Status: 422,
				Want: `{"errors": [{"field": "new_name", "code": "missing_field"}]}`},
			{Do: "PATCH /repos/garden/plot/labels/bug", Send: `{"new_name": []}`, Status: 422,
				Want: `{"errors": [{"field": "new_name", "code": "invalid"}]}`},
			{Do: "PATCH /repos/garden/plot/labels/none", Send: `{}`, Status: 404},
			{Do: "PATCH /repos/garden/plot/labels/bug", Send: `[]`, Status: 400},
			{Do: "POST /repos/garden/plot/labels", Send: `{"name"`, Status: 400},
			{Do: "POST /repos/garden/plot/labels", Send: ``, Status: 400},
			{Do: "GET /repos/garden/plot/labels", Status: 200, Want: `[{},{},{},{},{},{},{},{},{}]`},
			{Do: "POST /repos/garden/plot/labels",
				Send: `{"name": "` + long + `", "description": "` + wide + `"}`, Status: 201},
		} {
			c.As = "will"
			s.Check(t, c)
		}
	})
}

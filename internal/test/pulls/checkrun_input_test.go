package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What cannot be is refused, and says which field; nothing of it is stored.
func TestInput(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		one := run(t, s, ci, `{"name": "tests", "head_sha": "`+sha+`"}`)
		long := strings.Repeat("x", 70_000)
		note := func(fields string) string {
			return `"output": {"title": "t", "summary": "s", "annotations": [{"path": "a", "annotation_level": "notice", "message": "m", ` + fields + `}]}`
		}
		field := func(name, code string) string {
			return fmt.Sprintf(`{"message": "Validation Failed", "errors": [{"field": %q, "code": %q}]}`,
				name, code)
		}
		for _, c := range []struct{ send, want string }{
			{`"name": ""`, field("name", "missing_field")},
			{`"name": " "`, field("name", "missing_field")},
			{`"name": 1`, field("name", "invalid")},
			{`"name": "` + long[:256] + `"`, field("name", "custom")},
			{`"status": "waiting"`, field("status", "invalid")},
			{`"status": "completed"`, field("conclusion", "missing_field")},
			{`"completed_at": "2020-01-01T00:00:00Z"`, field("conclusion", "missing_field")},
			{`"conclusion": "stale"`, field("conclusion", "invalid")},
			{`"conclusion": "good"`, field("conclusion", "invalid")},
			{`"started_at": "yesterday"`, field("started_at", "invalid")},
			{`"details_url": "javascript:alert(1)"`, field("details_url", "custom")},
			{`"details_url": "https://"`, field("details_url", "custom")},
			{`"external_id": "` + long[:256] + `"`, field("external_id", "custom")},
			{`"output": 1`, field("output", "invalid")},
			{`"output": {"title": "t"}`, field("summary", "missing_field")},
			{`"output": {"title": "t", "summary": "` + long + `"}`, field("summary", "custom")},
			{`"output": {"title": "t", "summary": "s", "text": "` + long + `"}`, field("text", "custom")},
			{`"output": {"title": "t", "summary": "s", "annotations": [1]}`, field("annotations", "invalid")},
			{`"output": {"title": "t", "summary": "s", "annotations": {}}`, field("annotations", "invalid")},
			{`"output": {"title": "t", "summary": "s", "images": [{"alt": "a"}]}`,
				field("images", "invalid")},
			{`"output": {"title": "t", "summary": "s", "images": [{"alt": "a", "image_url": "data:x"}]}`,
				field("images", "invalid")},
			{note(`"start_line": 1`), field("end_line", "missing_field")},
			{note(`"start_line": 2, "end_line": 1`), field("end_line", "invalid")},
			{note(`"start_line": -1, "end_line": 1`), field("start_line", "invalid")},
			{note(`"start_line": 1, "end_line": 2, "start_column": 1`), field("start_column", "invalid")},
			{note(`"start_line": 1.5, "end_line": 2`), field("start_line", "invalid")},
			{note(`"start_line": 1, "end_line": 1, "annotation_level": "bad"`),
				field("annotation_level", "invalid")},
			{note(`"start_line": 1, "end_line": 1, "message": "` + long + `"`), field("message", "custom")},
			{note(`"start_line": 1, "end_line": 1, "title": "` + long[:256] + `"`), field("title", "custom")},
			{`"actions": [{"label": "a", "description": "b"}]`, field("actions", "invalid")},
			{`"actions": [{"label": "` + long[:21] + `", "description": "b", "identifier": "c"}]`,
				field("actions", "invalid")},
			{`"actions": [{"label": "a", "description": "` + long[:41] + `", "identifier": "c"}]`,
				field("actions", "invalid")},
			{`"actions": [{}, {}, {}, {}]`, field("actions", "invalid")},
		} {
			name := c.send[:min(len(c.send), 90)]
			s.Check(t, apitest.Case{Name: name, Do: "PATCH " + one, As: ci, Send: `{` + c.send + `}`,
				Status: 422, Want: c.want})
			if !strings.HasPrefix(c.send, `"name"`) {
				s.Check(t, apitest.Case{Name: name, Do: "POST " + checkrunPlot + "/check-runs", As: ci, Status: 422,
					Want: c.want,
					Send: `{"name": "more", "head_sha": "` + sha + `", ` + c.send + `}`})
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: `{"name": "x"}`, Status: 422,
				Want: field("head_sha", "missing_field")},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: `{"head_sha": "` + sha + `"}`, Status: 422,
				Want: field("name", "missing_field")},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: `{"name": "x", "head_sha": "main"}`,
				Status: 422, Want: `{"message": "No commit found for SHA: main"}`},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: `[]`, Status: 400},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci,
				Send: `{"name": "x", "head_sha": "` + sha + `", "output": {"summary": "s"}}`, Status: 422,
				Want: field("title", "missing_field")},
			{Name: "null is as if it was not sent", Do: "PATCH " + one, As: ci,
				Send: `{"name": null, "status": null, "conclusion": null, "output": null, "actions": null,
				"started_at": null, "completed_at": null, "details_url": null, "external_id": null}`, Status: 200, Want: `{"name": "tests", "status": "queued"}`},
			{Name: "the largest that there may be", Do: "PATCH " + one, As: ci, Status: 200,
				Send: `{"output": {"title": "` + long[:255] + `", "summary": "` + long[:65535] +
					`", "text": "` + long[:65535] + `",
				"images": [{"alt": "a", "image_url": "https://example.org/a.png", "caption": "c"}]},
				"actions": [{"label": "Fix", "description": "Mend it", "identifier": "fix"}, {"label": "b", "description": "b", "identifier": "b"}, {"label": "c", "description": "c", "identifier": "c"}]}`},
			{Do: "GET " + checkrunPlot + "/commits/main/check-runs?filter=all", Status: 200,
				Want: `{"total_count": 1, "check_runs": [{"output": {"annotations_count": 0}}]}`},
		})
		page := s.Check(t, apitest.Case{Do: "GET /alice/plot/runs/1", Status: 200,
			Headers: map[string]string{"Accept": "text/html"}})
		for _, want := range []string{"Mend it", "https://example.org/a.png"} {
			if !strings.Contains(string(page.Body), want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		noDrift(t, s)
	})
}

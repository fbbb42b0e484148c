package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// What happens to a repository, an App or a commit, and who reads and writes checks after it: alice owns the
// repository, sam has nothing to do with it, the App is installed with alice. Tokens are those of before.
//
//	                        sam reads    alice reads   the App writes
//	nothing                 yes          yes           yes
//	hidden                  no           yes           yes
//	shown again             yes          yes           yes
//	renamed                 yes          yes           yes, under the new name
//	archived                yes          yes           no
//	transferred             yes          yes           no: it is not installed there
//	installation suspended  yes          yes           no
//	App removed             yes          yes, and the App is null
//	deleted                 no           no            no; nothing is left
func TestTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		s.Org(t, "guild", "alice")
		run(t, s, ci, `{"name": "tests", "head_sha": "`+sha+`", "conclusion": "success"}`)
		at := checkrunPlot
		walk := func(name string, sam, alice, app int) {
			t.Helper()
			for _, path := range []string{"/check-runs/1", "/check-runs/1/annotations", "/check-suites/1",
				"/check-suites/1/check-runs", "/commits/" + sha + "/check-runs",
				"/commits/" + sha + "/check-suites"} {
				s.Run(t, []apitest.Case{{Name: name, Do: "GET " + at + path, As: "sam", Status: sam},
					{Name: name, Do: "GET " + at + path, Status: sam},
					{Name: name, Do: "GET " + at + path, As: "alice", Status: alice}})
			}
			s.Run(t, []apitest.Case{
				{Name: name, Do: "PATCH " + at + "/check-runs/1", As: ci, Send: `{"conclusion": "success"}`,
					Status: app},
				{Name: name, Do: "GET " + strings.TrimPrefix(at, "/repos") + "/runs/1", As: "sam",
					Status: sam, Headers: map[string]string{"Accept": "text/html"}},
			})
		}
		do := func(what, send string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: what, As: "alice", Send: send, Status: status})
		}
		walk("nothing", 200, 200, 200)
		do("PATCH "+at, `{"private": true}`, 200)
		walk("hidden", 404, 200, 200)
		do("PATCH "+at, `{"private": false}`, 200)
		walk("shown again", 200, 200, 200)
		do("PATCH "+at, `{"name": "patch"}`, 200)
		at = "/repos/alice/patch"
		walk("renamed", 200, 200, 200)
		s.Check(t, apitest.Case{Do: "GET " + at + "/check-runs/1", Status: 200,
			Want: `{"url": "{base}/repos/alice/patch/check-runs/1", "html_url": "{base}/alice/patch/runs/1"}`})
		do("PATCH "+at, `{"archived": true}`, 200)
		walk("archived", 200, 200, 403)
		s.Run(t, []apitest.Case{
			{Do: "POST " + at + "/check-runs", As: ci, Send: `{"name": "x", "head_sha": "` + sha + `"}`,
				Status: 403},
			{Do: "POST " + at + "/check-suites/1/rerequest", As: ci, Status: 403},
			{Do: "PATCH " + at + "/check-suites/preferences", As: "alice",
				Send: `{"auto_trigger_checks": []}`, Status: 403},
		})
		do("PATCH "+at, `{"archived": false}`, 200)
		do("POST "+at+"/transfer", `{"new_owner": "guild"}`, 202)
		at = "/repos/guild/patch"
		walk("transferred", 200, 200, 403)
		do("PATCH "+at, `{"private": true}`, 200)
		walk("transferred and hidden", 404, 200, 404)
		do("PATCH "+at, `{"private": false}`, 200)
		do("POST "+at+"/transfer", `{"new_owner": "alice"}`, 202)
		at = "/repos/alice/patch"
		walk("given back", 200, 200, 200)
		apps := s.Server.Forge().Apps
		i, err := apps.On(t.Context(), "ci", "alice")
		if err == nil {
			err = apps.Suspend(t.Context(), i.App.ID, i.ID, nil)
		}
		testkit.NoError(t, err)
		walk("suspended", 200, 200, 403)
		s.Ask(t, "alice", "PUT "+at+"/contents/leek", `{"message": "Sow", "content": "eA=="}`, 201)
		s.Check(t, apitest.Case{Do: "GET " + at + "/commits/main/check-suites", Status: 200,
			Want: `{"total_count": 1, "check_suites": [{"app": {"slug": "lint"}}]}`})
		testkit.NoError(t, apps.Remove(t.Context(), "ci"))
		walk("removed", 200, 200, 401)
		s.Check(t, apitest.Case{Do: "GET " + at + "/check-runs/1", Status: 200,
			Want: `{"app": null, "details_url": "{base}/alice/patch/runs/1", "conclusion": "success"}`})
		s.Check(t, apitest.Case{Do: "GET " + at + "/check-suites/1", Status: 200, Want: `{"app": null}`})
		do("POST "+at+"/check-runs", `{}`, 403)
		do("DELETE "+at, ``, 204)
		walk("deleted", 404, 404, 401)
		if left := dbtest.Number(t, s.DB, `SELECT (SELECT COUNT(*) FROM check_suites) + (SELECT COUNT(*)
				FROM check_runs) + (SELECT COUNT(*) FROM check_annotations)
				+ (SELECT COUNT(*) FROM check_totals) + (SELECT COUNT(*) FROM check_preferences)`); left != 0 {
			t.Errorf("%d rows are left", left)
		}
	})
}

// Checks belong to the commit, not to the branch: they stay when it moves. Callers without push access can
// then no longer see the commit or its message. A pull request shows the checks of its current head.
func TestHeadsMove(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		write := func(path, branch string) string {
			var made struct{ Commit struct{ SHA string } }
			s.Check(t, apitest.Case{Do: "PUT " + checkrunPlot + "/contents/" + path, As: "will", Status: 201,
				Send: `{"message": "Sow ` + path + `", "content": "eA==", "branch": "` + branch +
					`"}`}).JSON(t, &made)
			return made.Commit.SHA
		}
		s.Check(t, apitest.Case{Do: "POST " + checkrunPlot + "/git/refs", As: "will",
			Send: `{"ref": "refs/heads/fence", "sha": "` + sha + `"}`, Status: 201})
		head := write("wood", "fence")
		state := func(want string) apitest.Case {
			return apitest.Case{Do: "GET " + checkrunPlot + "/pulls/1", Status: 200,
				Want: `{"mergeable_state": "` + want + `"}`}
		}
		check := func(send string) apitest.Case {
			return apitest.Case{Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci, Send: send, Status: 200}
		}
		found := func(state, want string) apitest.Case {
			return apitest.Case{Do: "GET /search/issues?q=status:" + state, Status: 200,
				Want: `{"total_count": ` + want + `}`}
		}
		s.Run(t, []apitest.Case{
			{Do: "POST " + checkrunPlot + "/pulls", As: "will",
				Send: `{"title": "Fence", "head": "fence", "base": "main"}`, Status: 201,
				Want: `{"mergeable_state": "clean"}`},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci,
				Send: `{"name": "tests", "head_sha": "` + head + `"}`, Status: 201,
				Want: `{"pull_requests": [{"number": 1, "url": "{base}` + checkrunPlot +
					`/pulls/1", "head": {"ref": "fence", "sha": "` + head + `", "repo": {"name": "plot"}},
					"base": {"ref": "main", "sha": "` + sha + `"}}]}`},
			state("unstable"), found("pending", "1"), found("success", "0"),
			check(`{"conclusion": "failure"}`), state("unstable"), found("failure", "1"),
			found("pending", "0"),
			check(`{"conclusion": "neutral"}`), state("clean"), found("success", "1"), found("failure", "0"),
			{Name: "a status beside it", Do: "POST " + checkrunPlot + "/statuses/" + head, As: "will",
				Send: `{"state": "failure"}`, Status: 201},
			state("unstable"), found("failure", "1"), found("success", "0"),
			{Do: "POST " + checkrunPlot + "/statuses/" + head, As: "will", Send: `{"state": "success"}`, Status: 201},
			state("clean"), found("success", "1"),
			check(`{"conclusion": "timed_out"}`), state("unstable"), found("failure", "1"),
			check(`{"status": "queued"}`), state("unstable"), found("pending", "1"),
			{Do: "GET " + checkrunPlot + "/commits/fence/check-suites?app_id=1", Status: 200,
				Want: `{"check_suites": [{"pull_requests": [{"number": 1}], "head_branch": "fence"}]}`},
			{Name: "closed", Do: "PATCH " + checkrunPlot + "/pulls/1", As: "will", Send: `{"state": "closed"}`,
				Status: 200},
			{Do: "GET " + checkrunPlot + "/check-runs/1", Status: 200, Want: `{"pull_requests": []}`},
			check(`{"conclusion": "success"}`),
		})
		s.Check(t, apitest.Case{Do: "POST " + checkrunPlot + "/git/refs", As: "will",
			Send: `{"ref": "refs/heads/lost", "sha": "` + sha + `"}`, Status: 201})
		lost := write("seeds", "lost")
		s.Run(t, []apitest.Case{
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci,
				Send: `{"name": "tests", "head_sha": "` + lost + `"}`, Status: 201,
				Want: `{"id": 2, "check_suite": {"id": 7}}`},
			{Do: "GET " + checkrunPlot + "/check-suites/7", As: "sam", Status: 200,
				Want: `{"head_commit": {"message": "Sow seeds"}}`},
			{Name: "pushed away", Do: "PATCH " + checkrunPlot + "/git/refs/heads/lost", As: "will",
				Send: `{"sha": "` + sha + `", "force": true}`, Status: 200},
			{Name: "hidden from who may not push", Do: "GET " + checkrunPlot + "/commits/" + lost + "/check-runs",
				As: "sam", Status: 422},
			{Do: "GET " + checkrunPlot + "/commits/" + lost + "/check-runs", As: "will", Status: 200,
				Want: `{"total_count": 1}`},
			{Do: "GET " + checkrunPlot + "/check-runs/2", As: "sam", Status: 200,
				Want: `{"head_sha": "` + lost + `", "pull_requests": []}`},
			{Do: "GET " + checkrunPlot + "/check-suites/7", As: "will", Status: 200,
				Want: `{"head_commit": {"message": "Sow seeds"}}`},
			{Do: "GET " + checkrunPlot + "/check-suites/7", As: "sam", Status: 200,
				Want: `{"head_commit": {"id": "` + lost + `", "message": "", "author": null}}`},
			{Do: "PATCH " + checkrunPlot + "/check-runs/2", As: ci, Send: `{"conclusion": "success"}`, Status: 200},
			{Name: "a fork has none", Do: "POST " + checkrunPlot + "/forks", As: "sam", Status: 202},
			{Do: "GET /repos/sam/plot/commits/main/check-runs", Status: 200, Want: `{"total_count": 0}`},
			{Do: "GET /repos/sam/plot/check-runs/1", Status: 404},
		})
		noDrift(t, s)
	})
}

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

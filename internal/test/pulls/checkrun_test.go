// Tests of check runs against a whole server.
package pulls_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

const checkrunPlot = "/repos/alice/plot"

// plant is a repository alice/plot with a history, where will may push and the Apps ci and lint may write
// checks; it gives the tip of main.
func plant(t *testing.T, s *apitest.Server) string {
	t.Helper()
	sha := plot(t, s)
	for _, name := range []string{"ci", "lint"} {
		s.Bot(t, name, "alice", "checks=write,contents=write,pull_requests=write")
	}
	return sha
}

const ci, lint = "ci[bot]", "lint[bot]"

// run creates a run of an App and returns its address.
func run(t *testing.T, s *apitest.Server, as, send string) string {
	t.Helper()
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST " + checkrunPlot + "/check-runs", As: as, Send: send, Status: 201}).JSON(t,
		&made)
	return fmt.Sprint(checkrunPlot, "/check-runs/", made.ID)
}

// An App reports what it found in a commit, and everybody reads it under each name of the commit.
func TestRuns(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		of := checkrunPlot + "/commits/main"
		s.Run(t, []apitest.Case{
			{Name: "none yet", Do: "GET " + of + "/check-runs", Status: 200,
				Want: `{"total_count": 0, "check_runs": []}`},
			{Do: "GET " + of + "/check-suites", Status: 200, Want: `{"total_count": 0, "check_suites": []}`},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Status: 201,
				Send: `{"name": "tests", "head_sha": "` + sha + `"}`,
				Has:  map[string]string{"Location": "{base}" + checkrunPlot + "/check-runs/1"},
				Want: `{"id": 1, "name": "tests", "head_sha": "` + sha +
					`", "status": "queued", "conclusion": null, "external_id": "",
					"url": "{base}` + checkrunPlot + `/check-runs/1", "html_url": "{base}/alice/plot/runs/1", "details_url": "https://ci.example.org",
					"started_at": "$any", "completed_at": null, "check_suite": {"id": 1}, "app": {"slug": "ci"}, "pull_requests": [],
					"output": {"title": null, "summary": null, "text": null, "annotations_count": 0, "annotations_url": "{base}` + checkrunPlot + `/check-runs/1/annotations"}}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"id": 1, "status": "queued", "conclusion": null, "head_branch": "main",
				"head_sha": "` + sha + `", "before": null, "after": "` + sha + `", "latest_check_runs_count": 1, "app": {"slug": "ci"},
				"check_runs_url": "{base}` + checkrunPlot + `/check-suites/1/check-runs", "repository": {"full_name": "alice/plot"}, "head_commit": {"id": "` + sha + `", "author": {"name": "$any"}}}`},
			{Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci, Status: 200,
				Send: `{"status": "in_progress", "started_at": "2020-01-02T03:04:05Z",
				"external_id": "12", "details_url": "https://builds.example.org/12"}`,
				Want: `{"status": "in_progress", "started_at": "2020-01-02T03:04:05Z", "external_id": "12", "details_url": "https://builds.example.org/12"}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "in_progress", "conclusion": null}`},
			{Name: "a conclusion completes it", Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci, Status: 200,
				Send: `{"conclusion": "success",
				"completed_at": "2020-01-02T03:05:05Z", "output": {"title": "Tests", "summary": "All **12** passed", "text": "peas"}}`,
				Want: `{"status": "completed", "conclusion": "success", "completed_at": "2020-01-02T03:05:05Z",
					"output": {"title": "Tests", "summary": "All **12** passed", "text": "peas"}}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "success"}`},
			{Name: "a summary alone leaves the title", Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci,
				Status: 200, Send: `{"output": {"summary": "None"}}`,
				Want: `{"status": "completed", "output": {"title": "Tests", "summary": "None", "text": "peas"}}`},
			{Name: "a run of another name", Do: "POST " + checkrunPlot + "/check-runs", As: ci, Status: 201,
				Send: `{"name": "style", "head_sha": "` + sha +
					`", "status": "completed", "conclusion": "failure"}`,
				Want: `{"id": 2, "check_suite": {"id": 1}, "completed_at": "$any"}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "failure", "latest_check_runs_count": 2}`},
			{Name: "again, which counts in its place", Do: "POST " + checkrunPlot + "/check-runs",
				As: ci, Status: 201,
				Send: `{"name": "style", "head_sha": "` + sha + `", "conclusion": "neutral"}`,
				Want: `{"id": 3}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "neutral", "latest_check_runs_count": 2}`},
			{Name: "another App has a suite of its own", Do: "POST " + checkrunPlot + "/check-runs",
				As: lint, Status: 201,
				Send: `{"name": "style", "head_sha": "` + sha + `"}`,
				Want: `{"id": 4, "check_suite": {"id": 2}, "app": {"slug": "lint"}}`},

			{Name: "the latest", Do: "GET " + of + "/check-runs", Status: 200,
				Want: `{"total_count": 3, "check_runs": [{"id": 4}, {"id": 3}, {"id": 1}]}`},
			{Name: "all", Do: "GET " + checkrunPlot + "/commits/" + sha[:9] + "/check-runs?filter=all", Status: 200,
				Want: `{"total_count": 4, "check_runs": [{"id": 4}, {"id": 3}, {"id": 2}, {"id": 1}]}`},
			{Do: "GET " + of + "/check-runs?check_name=style", Status: 200,
				Want: `{"total_count": 2, "check_runs": [{"id": 4}, {"id": 3}]}`},
			{Do: "GET " + of + "/check-runs?check_name=style&filter=all&status=completed&app_id=1",
				Status: 200, Want: `{"total_count": 2, "check_runs": [{"id": 3}, {"id": 2}]}`},
			{Do: "GET " + of + "/check-runs?status=queued", Status: 200,
				Want: `{"total_count": 1, "check_runs": [{"id": 4}]}`},
			{Do: "GET " + of + "/check-runs?status=in_progress", Status: 200,
				Want: `{"total_count": 0, "check_runs": []}`},
			{Do: "GET " + of + "/check-runs?app_id=2", Status: 200,
				Want: `{"total_count": 1, "check_runs": [{"id": 4}]}`},
			{Do: "GET " + of + "/check-runs?app_id=ci", Status: 422},
			{Do: "GET " + of + "/check-runs?status=done", Status: 422},
			{Do: "GET " + of + "/check-runs?filter=some", Status: 422},
			{Do: "GET " + of + "/check-runs?per_page=1&page=2", Status: 200,
				Want: `{"total_count": 3, "check_runs": [{"id": 3}]}`, Has: map[string]string{
					"Link": `<{base}` + of + `/check-runs?per_page=1&page=3>; rel="next", <{base}` + of +
						`/check-runs?per_page=1&page=3>; rel="last", ` +
						`<{base}` + of + `/check-runs?per_page=1&page=1>; rel="first", <{base}` + of +
						`/check-runs?per_page=1&page=1>; rel="prev"`}},
			{Do: "GET " + of + "/check-runs?page=9", Status: 200,
				Want: `{"total_count": 3, "check_runs": []}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1/check-runs", Status: 200,
				Want: `{"total_count": 2, "check_runs": [{"id": 3}, {"id": 1}]}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1/check-runs?filter=all&check_name=style", Status: 200,
				Want: `{"total_count": 2, "check_runs": [{"id": 3}, {"id": 2}]}`},
			{Do: "GET " + checkrunPlot + "/check-suites/9/check-runs", Status: 404},
			{Do: "GET " + of + "/check-suites", Status: 200,
				Want: `{"total_count": 2, "check_suites": [{"id": 1}, {"id": 2}]}`},
			{Do: "GET " + of + "/check-suites?app_id=2", Status: 200,
				Want: `{"total_count": 1, "check_suites": [{"id": 2}]}`},
			{Do: "GET " + of + "/check-suites?check_name=tests", Status: 200,
				Want: `{"total_count": 1, "check_suites": [{"id": 1}]}`},
			{Do: "GET " + of + "/check-suites?app_id=x", Status: 422},
			{Do: "GET " + checkrunPlot + "/commits/nowhere/check-runs", Status: 422},
			{Do: "GET " + checkrunPlot + "/commits/nowhere/check-suites", Status: 422},
			{Name: "statuses alone count here", Do: "GET " + of + "/status", Status: 200,
				Want: `{"state": "pending", "total_count": 0}`},

			{Name: "it begins again", Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci,
				Send: `{"status": "in_progress"}`, Status: 200,
				Want: `{"status": "in_progress", "conclusion": null, "completed_at": null}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "in_progress", "conclusion": null}`},
			{Name: "renamed, it is the older one of the two", Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci,
				Send: `{"name": "style"}`, Status: 200, Want: `{"name": "style"}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1/check-runs", Status: 200,
				Want: `{"total_count": 1, "check_runs": [{"id": 3}]}`},
			{Do: "PATCH " + checkrunPlot + "/check-runs/3", As: ci, Send: `{"name": "looks"}`, Status: 200},
			{Name: "and the latest again", Do: "GET " + checkrunPlot + "/check-suites/1/check-runs", Status: 200,
				Want: `{"total_count": 2, "check_runs": [{"id": 3}, {"id": 2}]}`},
		})
		for _, p := range []string{"/alice/plot/runs/1", "/alice/plot/runs/3"} {
			s.Check(t, apitest.Case{Do: "GET " + p, Status: 200,
				Headers: map[string]string{"Accept": "text/html"}})
		}
		s.Check(t, apitest.Case{Do: "GET /alice/plot/runs/99", Status: 404})
	})
}

// Suites are made by hand where pushes make none, and asked for again.
func TestSuites(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		send := `{"head_sha": "` + sha + `"}`
		s.Run(t, []apitest.Case{
			{Do: "POST " + checkrunPlot + "/check-suites", As: ci, Send: send, Status: 201,
				Want: `{"id": 1, "status": "queued", "latest_check_runs_count": 0}`,
				Has:  map[string]string{"Location": "{base}" + checkrunPlot + "/check-suites/1"}},
			{Name: "there is one", Do: "POST " + checkrunPlot + "/check-suites", As: ci, Send: send, Status: 200,
				Want: `{"id": 1}`},
			{Do: "POST " + checkrunPlot + "/check-suites", As: ci, Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "CheckSuite", "field": "head_sha", "code": "missing_field"}]}`},
			{Do: "POST " + checkrunPlot + "/check-suites", As: ci,
				Send: `{"head_sha": "` + strings.Repeat("0", 39) + `1"}`, Status: 422},
			{Do: "POST " + checkrunPlot + "/check-suites", As: ci, Send: `{"head_sha": "main"}`, Status: 422},
			{Do: "POST " + checkrunPlot + "/check-suites", As: "alice", Send: send, Status: 403,
				Want: `{"message": "You must authenticate via a GitHub App."}`},
			{Do: "POST " + checkrunPlot + "/check-runs", As: ci,
				Send: `{"name": "x", "head_sha": "` + sha + `", "conclusion": "cancelled"}`, Status: 201,
				Want: `{"check_suite": {"id": 1}}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "cancelled"}`},
			{Name: "again: the run stays", Do: "POST " + checkrunPlot + "/check-suites/1/rerequest", As: ci,
				Status: 201, Body: `{}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "queued", "conclusion": null}`},
			{Do: "GET " + checkrunPlot + "/check-runs/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "cancelled"}`},
			{Do: "PATCH " + checkrunPlot + "/check-runs/1", As: ci, Send: `{"conclusion": "skipped"}`, Status: 200},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "completed", "conclusion": "skipped"}`},
			{Do: "POST " + checkrunPlot + "/check-runs/1/rerequest", As: ci, Status: 201, Body: `{}`},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 200,
				Want: `{"status": "queued", "conclusion": null}`},
			{Name: "others cannot", Do: "POST " + checkrunPlot + "/check-runs/1/rerequest", As: lint, Status: 403},
			{Do: "POST " + checkrunPlot + "/check-suites/1/rerequest", As: lint, Status: 403},
			{Do: "POST " + checkrunPlot + "/check-suites/1/rerequest", As: "alice", Status: 403},
			{Do: "POST " + checkrunPlot + "/check-suites/9/rerequest", As: ci, Status: 404},
			{Do: "POST " + checkrunPlot + "/check-runs/9/rerequest", As: ci, Status: 404},

			{Name: "pushes make suites for both", Do: "PUT " + checkrunPlot + "/contents/peas", As: "will",
				Send: `{"message": "Sow", "content": "eA=="}`, Status: 201},
			{Do: "GET " + checkrunPlot + "/commits/main/check-suites", Status: 200,
				Want: `{"total_count": 2, "check_suites": [{"app": {"slug": "ci"}, "head_branch": "main",
				"before": "` + sha + `", "status": "queued", "latest_check_runs_count": 0}, {"app": {"slug": "lint"}}]}`},
			{Name: "but for an App that shall not be asked",
				Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 200,
				Send: `{"auto_trigger_checks": [{"app_id": 1, "setting": false}]}`,
				Want: `{"preferences": {"auto_trigger_checks": [{"app_id": 1, "setting": false}]}, "repository": {"full_name": "alice/plot"}}`},
			{Do: "PUT " + checkrunPlot + "/contents/beans", As: "will", Send: `{"message": "Sow", "content": "eA=="}`,
				Status: 201},
			{Do: "GET " + checkrunPlot + "/commits/main/check-suites", Status: 200,
				Want: `{"total_count": 1, "check_suites": [{"app": {"slug": "lint"}}]}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 200,
				Send: `{"auto_trigger_checks": [{"app_id": 1, "setting": true}]}`},
			{Do: "PUT " + checkrunPlot + "/contents/leek", As: "will", Send: `{"message": "Sow", "content": "eA=="}`,
				Status: 201},
			{Do: "GET " + checkrunPlot + "/commits/main/check-suites", Status: 200, Want: `{"total_count": 2}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "will", Status: 403,
				Send: `{"auto_trigger_checks": []}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 422,
				Send: `{"auto_trigger_checks": [{"app_id": 99, "setting": true}]}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 422,
				Send: `{"auto_trigger_checks": [{"app_id": 1}]}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 422,
				Send: `{"auto_trigger_checks": 1}`},
			{Do: "PATCH " + checkrunPlot + "/check-suites/preferences", As: "alice", Status: 422,
				Send: `{"auto_trigger_checks": [1]}`},
		})
	})
}

// Only an App writes checks, with the permission, where it is installed, and its own alone.
func TestWhoWrites(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		s.Bot(t, "reader", "alice", "checks=read")
		s.Bot(t, "other", "sam", "checks=write")
		s.Bot(t, "builder", "alice", "statuses=write")
		send := `{"name": "tests", "head_sha": "` + sha + `"}`
		one := run(t, s, ci, send)
		const app, integration = `{"message": "You must authenticate via a GitHub App."}`,
			`{"message": "Resource not accessible by integration"}`
		for _, c := range []struct {
			as     string
			status int
			want   string
		}{{"", 401, ``}, {"sam", 403, ``}, {"will", 403, app}, {"alice", 403, app},
			{"reader[bot]", 403, integration},
			{"builder[bot]", 403, integration}, {"other[bot]", 403, integration}} {
			s.Run(t, []apitest.Case{
				{Name: c.as, Do: "POST " + checkrunPlot + "/check-runs", As: c.as, Send: send, Status: c.status,
					Want: c.want},
				{Name: c.as, Do: "PATCH " + one, As: c.as, Send: `{"conclusion": "success"}`,
					Status: c.status, Want: c.want},
				{Name: c.as, Do: "POST " + one + "/rerequest", As: c.as, Status: c.status, Want: c.want},
				{Name: c.as, Do: "POST " + checkrunPlot + "/check-suites", As: c.as,
					Send: `{"head_sha": "` + sha + `"}`, Status: c.status, Want: c.want},
				{Name: c.as, Do: "GET " + one, As: c.as, Status: 200},
			})
		}
		s.Run(t, []apitest.Case{
			{Name: "another App's", Do: "PATCH " + one, As: lint, Send: `{"conclusion": "success"}`,
				Status: 403, Want: `{"message": "Invalid app_id ` + "`1`" +
					` - check run can only be modified by the GitHub App that created it."}`},
			{Do: "GET " + checkrunPlot + "/commits/main/check-runs", Status: 200,
				Want: `{"total_count": 1, "check_runs": [{"status": "queued"}]}`},
		})
	})
}

// Annotations come fifty at a time, and are read in pages.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		notes := func(n int) string {
			list := make([]string, n)
			for i := range list {
				list[i] = fmt.Sprintf(
					`{"path": "beds/w est", "start_line": %d, "end_line": %d, "annotation_level": "warning", "message": "slug %d"}`, i+1, i+1, i)
			}
			return `{"output": {"title": "t", "summary": "s", "annotations": [` + strings.Join(list,
				",") + `]}}`
		}
		one := run(t, s, ci, `{"name": "tests", "head_sha": "`+sha+
			`", "output": {"title": "T", "summary": "S", "annotations": [
			{"path": "a", "start_line": 2, "end_line": 2, "start_column": 3, "end_column": 4, "annotation_level": "failure", "message": "m", "title": "no", "raw_details": "all"}]}}`)
		s.Run(t, []apitest.Case{
			{Do: "GET " + one, Status: 200, Want: `{"output": {"annotations_count": 1}}`},
			{Do: "GET " + one + "/annotations", Status: 200,
				Want: `[{"path": "a", "blob_href": "{base}/alice/plot/blob/` + sha +
					`/a", "start_line": 2, "end_line": 2,
				"start_column": 3, "end_column": 4, "annotation_level": "failure", "message": "m", "title": "no", "raw_details": "all"}]`},
			{Do: "PATCH " + one, As: ci, Send: notes(50), Status: 200,
				Want: `{"output": {"annotations_count": 51}}`},
			{Do: "PATCH " + one, As: ci, Send: notes(51), Status: 422,
				Want: `{"errors": [{"field": "annotations"}]}`},
			{Do: "GET " + one + "/annotations?per_page=2&page=2", Status: 200,
				Want: `[{"message": "slug 1", "blob_href": "{base}/alice/plot/blob/` + sha +
					`/beds/w%20est", "start_column": null, "title": null},
				{"message": "slug 2"}]`},
			{Do: "GET " + one + "/annotations?page=3", Status: 200, Want: `[]`},
			{Do: "GET " + checkrunPlot + "/check-runs/9/annotations", Status: 404},
		})
		page := s.Check(t, apitest.Case{Do: "GET " + strings.Replace(strings.TrimPrefix(one, "/repos"),
			"check-runs", "runs", 1), Status: 200,
			Headers: map[string]string{"Accept": "text/html"}})
		for _, want := range []string{"slug 48", "beds/w est", "ci", sha} {
			if !strings.Contains(string(page.Body), want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		dbtest.Exec(t, s.DB, `UPDATE check_runs SET annotations = 9999`)
		s.Check(t, apitest.Case{Do: "PATCH " + one, As: ci, Send: notes(2), Status: 422,
			Want: `{"errors": [{"resource": "CheckRun", "code": "custom", "message": "This check run has reached the maximum number of annotations."}]}`})
	})
}

// Apps report at the same time. If a suite's sums were lost, it would wait for ever, or pass in vain.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				for _, state := range []string{`"status": "in_progress"`, `"conclusion": "failure"`,
					`"conclusion": "success"`} {
					a := s.Do(t, apitest.Case{Do: "POST " + checkrunPlot + "/check-runs", As: []string{ci, lint}[n%2],
						Send: fmt.Sprintf(`{"name": "check %d", "head_sha": %q, %s}`, n%8, sha, state)})
					if a.Status != 201 {
						t.Errorf("%d: %s", a.Status, a.Body)
					}
				}
			})
		}
		wg.Wait()
		s.Run(t, []apitest.Case{
			{Do: "GET " + checkrunPlot + "/commits/main/check-runs", Status: 200, Want: `{"total_count": 8}`},
			{Do: "GET " + checkrunPlot + "/commits/main/check-runs?filter=all", Status: 200,
				Want: `{"total_count": 48}`},
			{Do: "GET " + checkrunPlot + "/commits/main/check-suites", Status: 200,
				Want: `{"total_count": 2, "check_suites": [{"latest_check_runs_count": 4}, {"latest_check_runs_count": 4}]}`},
		})
		noDrift(t, s)
	})
}

// noDrift demands that what suites and repositories count is what there is.
func noDrift(t *testing.T, s *apitest.Server) {
	t.Helper()
	if drift := dbtest.Number(t, s.DB, `SELECT
			(SELECT COUNT(*) FROM check_suites s WHERE runs <> (SELECT COUNT(*) FROM check_runs r
			WHERE r.suite_id = s.id AND latest)
				OR waiting <> (SELECT COUNT(*) FROM check_runs r WHERE r.suite_id = s.id AND latest
				AND status < 3)
				OR failing <> (SELECT COUNT(*) FROM check_runs r WHERE r.suite_id = s.id AND latest
				AND status = 3 AND conclusion <= 4)
				OR bytes <> 1024 + (SELECT COALESCE(SUM(bytes), 0) FROM check_runs r WHERE r.suite_id = s.id))
			+ (SELECT COUNT(*) FROM check_totals t WHERE bytes <> (SELECT COALESCE(SUM(bytes), 0)
			FROM check_suites s WHERE s.repo_id = t.repo_id))
			+ (SELECT COUNT(*) FROM (SELECT suite_id, name, SUM(CASE WHEN latest THEN 1 ELSE 0 END) AS n
			FROM check_runs GROUP BY suite_id, name) x WHERE n <> 1)`); drift != 0 {
		t.Errorf("%d sums are wrong", drift)
	}
}

// An App gone wild must not fill the store.
func TestBounds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		set := func(statement string, args ...any) {
			t.Helper()
			dbtest.Exec(t, s.DB, statement, args...)
		}
		send := func(name string) string { return `{"name": "` + name + `", "head_sha": "` + sha + `"}` }
		for range 3 {
			run(t, s, ci, send("wild"))
		}
		set(`UPDATE check_suites SET runs = 1000`)
		s.Check(t, apitest.Case{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: send("tame"), Status: 422,
			Want: `{"errors": [{"resource": "CheckRun", "code": "custom", "message": "This check suite has reached the maximum number of check runs."}]}`})
		run(t, s, ci, send("wild"))
		noDrift(t, s)

		// Of one name the newest thousand stay.
		set(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 996)
			INSERT INTO check_runs (suite_id, repo_id, app_id, head_sha, name, latest, status, conclusion,
			external_id, started_at, bytes, created_at, updated_at)
			SELECT suite_id, repo_id, app_id, head_sha, name, FALSE, 1, 0, '', 1, 10, 1, 1
			FROM check_runs CROSS JOIN n WHERE latest = TRUE`)
		set(`UPDATE check_suites SET bytes = bytes + 9960`)
		set(`UPDATE check_totals SET bytes = bytes + 9960`)
		run(t, s, ci, send("wild"))
		s.Check(t, apitest.Case{Do: "GET " + checkrunPlot + "/commits/main/check-runs?filter=all", Status: 200,
			Want: `{"total_count": 1000}`})
		s.Check(t, apitest.Case{Do: "GET " + checkrunPlot + "/check-runs/1", Status: 404})
		noDrift(t, s)

		// A suite is full at 64 MiB.
		set(`UPDATE check_suites SET bytes = 67108000`)
		s.Check(t, apitest.Case{Do: "POST " + checkrunPlot + "/check-runs", As: ci, Send: send("more"), Status: 422,
			Want: `{"errors": [{"resource": "CheckSuite", "code": "custom", "message": "This check suite has reached its maximum size."}]}`})

		// A repository at 256 MiB loses its oldest suites.
		run(t, s, lint, send("style"))
		set(`UPDATE check_totals SET bytes = 268435000`)
		s.Run(t, []apitest.Case{
			{Do: "POST " + checkrunPlot + "/check-runs", As: lint, Send: send("more"), Status: 201},
			{Do: "GET " + checkrunPlot + "/check-suites/1", Status: 404},
			{Do: "GET " + checkrunPlot + "/commits/main/check-runs", Status: 200,
				Want: `{"total_count": 2, "check_runs": [{"name": "more"}, {"name": "style"}]}`},
		})
	})
}

//go:build long

package conformance

import (
	"fmt"

	"arbor/internal/app"
	"arbor/internal/test/apitest"
)

// checks: by an App, of the head of a pull request that was pushed to, with all that a run can say.
func (w *world) checks() {
	tester := w.NewApp(w.t, "alice", app.Manifest{Name: "Tester", Description: "It tests.",
		Events:      []string{"check_run"},
		Permissions: apitest.Permissions("checks=write"),
		Hook:        app.Hook{URL: "http://127.0.0.1:1/tester", Active: true, Site: w.URL}})
	w.SetToken("tester", tester.Token(w.t, tester.Install(w.t, "alice").ID, ""))
	w.put("alice", "alice/garden", "stones", "pebbles.txt", "pebbles\n", "")
	head := w.do("", "GET "+garden+"/pulls/8").get("head.sha")
	run := w.do("tester", "POST "+garden+"/check-runs",
		fmt.Sprintf(`{"name": "stones", "head_sha": %q, "external_id": "7",
		"details_url": "https://ci.example.org/7", "status": "in_progress", "started_at": "2026-01-02T03:04:05Z"}`, head)).get("id")
	w.do("tester", "PATCH "+garden+"/check-runs/"+run,
		`{"conclusion": "success", "completed_at": "2026-01-02T03:05:05Z",
		"output": {"title": "Stones", "summary": "All are round.", "text": "Each one.", "annotations": [{"path": "pebbles.txt",
			"start_line": 1, "end_line": 1, "start_column": 1, "end_column": 3, "annotation_level": "notice", "title": "Small",
			"message": "A small stone", "raw_details": "2 cm"}]},
		"actions": [{"label": "Polish", "identifier": "polish", "description": "Makes it shine"}]}`)
	suite := w.do("", "GET "+garden+"/check-runs/"+run).get("check_suite.id")
	w.do("", "GET "+garden+"/check-runs/"+run+"/annotations")
	w.do("", "GET "+garden+"/check-suites/"+suite)
	w.do("", "GET "+garden+"/check-suites/"+suite+"/check-runs")
	w.do("", "GET "+garden+"/commits/"+head+"/check-runs")
	w.do("", "GET "+garden+"/commits/"+head+"/check-suites")
	w.do("alice", "PATCH "+garden+"/check-suites/preferences",
		fmt.Sprintf(`{"auto_trigger_checks": [{"app_id": %d, "setting": false}]}`, tester.ID))
	w.put("alice", "alice/garden", "stones", "gravel.txt", "gravel\n", "")
	head = w.do("", "GET "+garden+"/pulls/8").get("head.sha")
	w.do("tester", "POST "+garden+"/check-suites", fmt.Sprintf(`{"head_sha": %q}`, head))
	w.do("tester", "POST "+garden+"/check-runs/"+run+"/rerequest")
}

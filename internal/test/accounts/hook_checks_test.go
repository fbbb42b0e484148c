package accounts_test

import (
	"path/filepath"
	"testing"

	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A push, and a rerequest, send an App the request for its checks, whatever its events are. Webhooks of the
// repository get the results, but not the requests.
func TestChecksAreTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) { checks(t, s) })
}

// checks returns the delivered events of checks.
func checks(t *testing.T, s *apitest.Server) (all []*sent) {
	t.Helper()
	s.User(t, "alice")
	repo := s.Repo(t, "alice/garden", false)
	s.Import(t, repo, gittest.Repository(t, 3, 2))
	asked, r := receive(t, nil), receive(t, nil)
	s.BotWithHook(t, "ci", "alice", "checks=write",
		app.Hook{URL: asked.URL, Active: true, Secret: "peas", Site: s.URL})
	asked.expect(t, "installation.created")
	hookOn(t, s, garden, "alice", r, `["check_run", "check_suite"]`)
	do := func(from *receiver, names, as, do, send string, status int) {
		t.Helper()
		all = append(all, told(t, s, from,
			apitest.Case{Do: do, As: as, Send: send, Status: status}, names)...)
	}
	const ci = "ci[bot]"
	do(asked, "check_suite.requested", "alice", "PUT "+garden+"/contents/peas",
		`{"message": "Sow", "content": "eA=="}`, 201)
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "alice", "alice/garden"), clone)
	gittest.Run(t, clone, "commit", "-q", "--allow-empty", "-m", "Water")
	gittest.Run(t, clone, "push", "-q", "origin", "HEAD:refs/heads/pushed")
	asked.expect(t, "check_suite.requested")
	if got := all[0].JSON["check_suite"].(map[string]any); got["head_branch"] != "main" ||
		got["status"] != "queued" {
		t.Errorf("the App is asked for %v", got)
	}
	if all[0].JSON["installation"] == nil {
		t.Error("the App is not told of which installation it is")
	}
	tip := s.Tip(t, "alice", "alice/garden", "main")
	do(r, "check_run.created", ci, "POST "+garden+"/check-runs",
		`{"name": "tests", "head_sha": "`+tip+`"}`, 201)
	do(r, "check_run.completed check_suite.completed", ci, "PATCH "+garden+"/check-runs/1",
		`{"conclusion": "success"}`, 200)
	do(r, "check_run.created check_run.completed", ci, "POST "+garden+"/check-runs",
		`{"name": "style", "head_sha": "`+tip+`", "conclusion": "failure"}`, 201)
	do(asked, "check_run.rerequested", ci, "POST "+garden+"/check-runs/1/rerequest", ``, 201)
	do(asked, "check_suite.rerequested", ci, "POST "+garden+"/check-suites/1/rerequest", ``, 201)
	do(r, "check_run.completed check_suite.completed", ci, "PATCH "+garden+"/check-runs/2",
		`{"conclusion": "neutral"}`, 200)
	return all
}

package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// protection is the beginning of the addresses of alice/garden's protection of main.
const protection = "/repos/alice/garden/branches/main/protection"

// gardenWithBob creates alice/garden with a file on main; bob may push.
func gardenWithBob(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob", "carol")
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "bob", account.Push)
	s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a.txt", `{"message": "one", "content": "MQo="}`, 201)
}

// A protection has the form that GitHub's clients know, and each of its parts an address.
func TestProtectionHasParts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Run(t, []apitest.Case{
			{Name: "none", Do: "GET " + protection, As: "alice", Status: 404, Want: `{"message": "Branch not protected"}`},
			{Name: "no branch", Do: "GET /repos/alice/garden/branches/none/protection", As: "alice", Status: 404,
				Want: `{"message": "Branch not found"}`},
			{Name: "not for writers", Do: "GET " + protection, As: "bob", Status: 403},
			{Name: "not by writers", Do: "PUT " + protection, As: "bob", Status: 403,
				Send: `{"required_status_checks": null, "enforce_admins": null, "required_pull_request_reviews": null, "restrictions": null}`},
			{Name: "all four", Do: "PUT " + protection, As: "alice", Send: `{"enforce_admins": true}`, Status: 422},
			{Name: "least", Do: "PUT " + protection, As: "alice", Status: 200,
				Send: `{"required_status_checks": null, "enforce_admins": null, "required_pull_request_reviews": null, "restrictions": null}`,
				Want: `{"url": "{base}` + protection + `", "enforce_admins": {"enabled": false},
					"required_status_checks": "$absent", "required_pull_request_reviews": "$absent", "restrictions": "$absent",
					"allow_force_pushes": {"enabled": false}, "allow_deletions": {"enabled": false}}`},
			{Name: "all", Do: "PUT " + protection, As: "alice", Status: 200,
				Send: `{"required_status_checks": {"strict": true, "contexts": ["build"]}, "enforce_admins": true,
					"required_pull_request_reviews": {"dismiss_stale_reviews": true, "required_approving_review_count": 2,
						"require_last_push_approval": true, "bypass_pull_request_allowances": {"users": ["carol"]}},
					"restrictions": {"users": ["bob"], "teams": [], "apps": []}, "required_linear_history": true,
					"allow_force_pushes": true, "allow_deletions": true, "block_creations": true,
					"required_conversation_resolution": true, "lock_branch": true, "allow_fork_syncing": true}`,
				Want: `{"required_status_checks": {"strict": true, "contexts": ["build"], "checks": [{"context": "build", "app_id": null}]},
					"enforce_admins": {"enabled": true}, "required_pull_request_reviews": {"dismiss_stale_reviews": true,
						"required_approving_review_count": 2, "require_last_push_approval": true,
						"bypass_pull_request_allowances": {"users": [{"login": "carol"}], "teams": [], "apps": []}},
					"restrictions": {"users": [{"login": "bob"}], "teams": [], "apps": []}, "required_linear_history": {"enabled": true},
					"allow_force_pushes": {"enabled": true}, "allow_deletions": {"enabled": true}, "block_creations": {"enabled": true},
					"required_conversation_resolution": {"enabled": true}, "lock_branch": {"enabled": true},
					"allow_fork_syncing": {"enabled": true}}`},
			{Do: "DELETE " + protection + "/enforce_admins", As: "alice", Status: 204},
			{Do: "GET " + protection + "/enforce_admins", As: "alice", Status: 200, Want: `{"enabled": false}`},
			{Do: "POST " + protection + "/enforce_admins", As: "alice", Status: 200, Want: `{"enabled": true}`},
			{Do: "GET " + protection + "/required_signatures", As: "alice", Status: 200, Want: `{"enabled": false}`},
			{Do: "POST " + protection + "/required_signatures", As: "bob", Status: 403},
			{Do: "POST " + protection + "/required_signatures", As: "alice", Status: 200, Want: `{"enabled": true}`},
			{Name: "signatures stay", Do: "PUT " + protection, As: "alice", Status: 200,
				Send: `{"required_status_checks": {"strict": true, "contexts": ["build"]}, "enforce_admins": true,
					"required_pull_request_reviews": {"dismiss_stale_reviews": true}, "restrictions": {"users": ["bob"]},
					"lock_branch": true}`,
				Want: `{"required_signatures": {"enabled": true}}`},
			{Do: "DELETE " + protection + "/required_signatures", As: "alice", Status: 204},
			{Do: "GET " + protection + "/required_signatures", As: "alice", Status: 200, Want: `{"enabled": false}`},
			{Do: "PATCH " + protection + "/required_pull_request_reviews", As: "alice", Status: 200,
				Send: `{"required_approving_review_count": 1}`,
				Want: `{"required_approving_review_count": 1, "dismiss_stale_reviews": true}`},
			{Do: "GET " + protection + "/required_pull_request_reviews", As: "alice", Status: 200,
				Want: `{"required_approving_review_count": 1}`},
			{Name: "code owners", Do: "PATCH " + protection + "/required_pull_request_reviews", As: "alice", Status: 200,
				Send: `{"require_code_owner_reviews": true}`, Want: `{"require_code_owner_reviews": true}`},
			{Name: "too many", Do: "PATCH " + protection + "/required_pull_request_reviews", As: "alice", Status: 422,
				Send: `{"required_approving_review_count": 11}`},
			{Do: "PATCH " + protection + "/required_status_checks", As: "alice", Status: 200,
				Send: `{"strict": false}`, Want: `{"strict": false, "contexts": ["build"]}`},
			{Do: "POST " + protection + "/required_status_checks/contexts", As: "alice", Status: 200,
				Send: `{"contexts": ["lint", "build"]}`, Body: `["build","lint"]`},
			{Do: "DELETE " + protection + "/required_status_checks/contexts", As: "alice", Status: 200,
				Send: `["build"]`, Body: `["lint"]`},
			{Do: "PUT " + protection + "/required_status_checks/contexts", As: "alice", Status: 200,
				Send: `["a", "b"]`, Body: `["a","b"]`},
			{Do: "GET " + protection + "/required_status_checks/contexts", As: "alice", Status: 200, Body: `["a","b"]`},
			{Do: "POST " + protection + "/restrictions/users", As: "alice", Status: 200, Send: `["carol"]`,
				Want: `[{"login": "bob"}, {"login": "carol"}]`},
			{Do: "DELETE " + protection + "/restrictions/users", As: "alice", Status: 200, Send: `{"users": ["bob"]}`,
				Want: `[{"login": "carol"}]`},
			{Do: "PUT " + protection + "/restrictions/users", As: "alice", Status: 200, Send: `["bob"]`,
				Want: `[{"login": "bob"}]`},
			{Do: "PUT " + protection + "/restrictions/users", As: "alice", Status: 422, Send: `["nobody"]`},
			{Do: "GET " + protection + "/restrictions/users", As: "alice", Status: 200, Want: `[{"login": "bob"}]`},
			{Do: "GET " + protection + "/restrictions/teams", As: "alice", Status: 200, Body: `[]`},
			{Do: "GET " + protection + "/restrictions/apps", As: "alice", Status: 200, Body: `[]`},
			{Do: "GET " + protection + "/restrictions", As: "alice", Status: 200, Want: `{"users": [{"login": "bob"}]}`},
			{Do: "DELETE " + protection + "/restrictions", As: "alice", Status: 204},
			{Do: "GET " + protection + "/restrictions", As: "alice", Status: 404},
			{Do: "DELETE " + protection + "/required_status_checks", As: "alice", Status: 204},
			{Do: "GET " + protection + "/required_status_checks", As: "alice", Status: 404},
			{Do: "DELETE " + protection + "/required_pull_request_reviews", As: "alice", Status: 204},
			{Do: "GET " + protection + "/required_pull_request_reviews", As: "alice", Status: 404},
			{Do: "GET " + protection, As: "alice", Status: 200, Want: `{"lock_branch": {"enabled": true}}`},
			{Do: "DELETE " + protection, As: "alice", Status: 204},
			{Do: "DELETE " + protection, As: "alice", Status: 404},
			{Name: "teams", Do: "PUT " + protection, As: "alice", Status: 422,
				Send: `{"required_status_checks": null, "enforce_admins": null, "required_pull_request_reviews": null,
					"restrictions": {"users": [], "teams": ["core"], "apps": []}}`},
		})
	})
}

// A rule refuses a branch's update whatever way it takes, and the person who pushes reads why.
func TestEveryWayMeetsTheRules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		dir := t.TempDir()
		gittest.Run(t, "", "clone", "-q", s.Remote(t, "bob", "alice/garden"), dir)
		gittest.Run(t, dir, "checkout", "-q", "-b", "topic")
		topic, _, _ := gittest.CommitFile(t, dir, "b.txt", "two\n")
		gittest.Run(t, dir, "push", "-q", "origin", "topic")
		s.Ask(t, "bob", "POST /repos/alice/garden/pulls", `{"title": "t", "head": "topic", "base": "main"}`, 201)
		main := s.Tip(t, "bob", "alice/garden", "main")
		s.Ask(t, "alice", "PUT "+protection, `{"required_status_checks": null, "enforce_admins": true,
			"required_pull_request_reviews": {"required_approving_review_count": 1}, "restrictions": null}`, 200)

		const refusal = "Changes must be made through a pull request."
		_, stderr, err := gittest.Try(t, dir, nil, "push", "origin", "topic:main")
		if text := string(stderr); err == nil || !strings.Contains(text, "refused by rules: "+refusal) ||
			!strings.Contains(text, "remote: - "+refusal) || !strings.Contains(text, "open a pull request") {
			t.Errorf("push: %v\n%s", err, stderr)
		}
		gittest.Run(t, dir, "push", "-q", "origin", "topic:other") // no rule is about it
		s.Run(t, []apitest.Case{
			{Name: "ref", Do: "PATCH /repos/alice/garden/git/refs/heads/main", As: "bob", Status: 422,
				Send: `{"sha": "` + topic + `"}`, Want: `{"message": "Repository rule violations found\n\n` + refusal + `\n"}`},
			{Name: "forced", Do: "PATCH /repos/alice/garden/git/refs/heads/main", As: "bob", Status: 422,
				Send: `{"sha": "` + topic + `", "force": true}`},
			{Name: "contents", Do: "PUT /repos/alice/garden/contents/c.txt", As: "bob", Status: 409,
				Send: `{"message": "c", "content": "Mwo="}`},
			{Name: "deleted contents", Do: "DELETE /repos/alice/garden/contents/a.txt", As: "bob", Status: 409,
				Send: `{"message": "c", "sha": "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d"}`},
			{Name: "merges", Do: "POST /repos/alice/garden/merges", As: "bob", Status: 409,
				Send: `{"base": "main", "head": "topic"}`},
			{Name: "administrators, too", Do: "PUT /repos/alice/garden/contents/c.txt", As: "alice", Status: 409,
				Send: `{"message": "c", "content": "Mwo="}`},
		})
		if now := s.Tip(t, "bob", "alice/garden", "main"); now != main {
			t.Errorf("main moved to %s", now)
		}
	})
}

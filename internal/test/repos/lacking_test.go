package repos_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Clients that ask for Actions go on: there are none, for those who may read them at GitHub.
func TestLackingActions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		s.Org(t, "guild", "alice")
		public, private := s.Repo(t, "alice/garden", false), s.Repo(t, "alice/cellar", true)
		s.Grant(t, public, "bob", account.Push)
		s.Grant(t, private, "bob", account.Pull)
		const garden, cellar, org = "GET /repos/alice/garden", "GET /repos/alice/cellar", "GET /orgs/guild"
		s.Run(t, []apitest.Case{
			{Do: garden + "/actions/runs?per_page=50&exclude_pull_requests=true", Status: 200,
				Want: `{"total_count": 0, "workflow_runs": []}`, Has: map[string]string{"Link": "-"}},
			{Do: garden + "/actions/workflows", Status: 200, Want: `{"total_count": 0, "workflows": []}`},
			{Do: garden + "/actions/artifacts", Status: 200, Want: `{"total_count": 0, "artifacts": []}`},
			{Do: garden + "/actions/caches", Status: 200, Want: `{"total_count": 0, "actions_caches": []}`},
			{Do: garden + "/actions/cache/usage", Status: 200,
				Body: `{"full_name":"alice/garden","active_caches_size_in_bytes":0,"active_caches_count":0}`},
			{Do: garden + "/private-vulnerability-reporting", Status: 200, Body: `{"enabled":false}`},
			{Name: "secrets are for those who push", Do: garden + "/actions/secrets", As: "eve", Status: 403},
			{Do: garden + "/actions/secrets", Status: 403},
			{Do: garden + "/actions/secrets", As: "bob", Status: 200, Body: `{"secrets":[],"total_count":0}`},
			{Do: garden + "/actions/variables", As: "bob", Status: 200, Want: `{"total_count": 0, "variables": []}`},
			{Do: garden + "/actions/variables", As: "eve", Status: 403},
			{Do: garden + "/dependabot/secrets", As: "bob", Status: 200, Want: `{"total_count": 0}`},
			{Name: "runners are for administrators", Do: garden + "/actions/runners", As: "bob", Status: 403},
			{Do: garden + "/actions/runners", As: "alice", Status: 200, Body: `{"runners":[],"total_count":0}`},
			{Do: garden + "/actions/permissions", As: "alice", Status: 200, Body: `{"enabled":false}`},
			{Name: "one thing", Do: garden + "/actions/runs/1", Status: 404},
			{Do: garden + "/actions/workflows/ci.yml", Status: 404},
			{Do: garden + "/actions/secrets/public-key", As: "alice", Status: 404},
			{Do: garden + "/actions/variables/HOME", As: "alice", Status: 404},
			{Name: "writes are refused", Do: "POST /repos/alice/garden/actions/variables", As: "alice",
				Send: `{"name": "HOME", "value": "x"}`, Status: 405},
			{Do: "PUT /repos/alice/garden/actions/secrets/KEY", As: "alice", Send: `{}`, Status: 404,
				Want: `{"message": "Not Found: this server does not have PUT /repos/{owner}/{repo}/actions/secrets/{secret_name} of GitHub's API"}`},
			{Do: "POST /repos/alice/garden/actions/workflows/1/dispatches", As: "alice", Send: `{"ref": "main"}`,
				Status: 404},

			{Name: "what is hidden stays hidden", Do: cellar + "/actions/runs", Status: 404},
			{Do: cellar + "/actions/runs", As: "eve", Status: 404},
			{Do: cellar + "/actions/runs", As: "bob", Status: 200},
			{Do: cellar + "/actions/secrets", As: "bob", Status: 403},
			{Do: cellar + "/actions/secrets", As: "eve", Status: 404},

			{Name: "environments", Do: "PUT /repos/alice/garden/environments/staging", As: "alice", Status: 200},
			{Do: garden + "/environments/staging/secrets", As: "bob", Status: 200, Want: `{"secrets": []}`},
			{Do: garden + "/environments/staging/variables", As: "bob", Status: 200, Want: `{"variables": []}`},
			{Do: garden + "/environments/other/variables", As: "bob", Status: 404},
			{Do: garden + "/environments/staging/secrets", As: "eve", Status: 403},

			{Name: "organizations", Do: org + "/actions/secrets", As: "alice", Status: 200,
				Body: `{"secrets":[],"total_count":0}`},
			{Do: org + "/actions/variables", As: "alice", Status: 200, Want: `{"variables": []}`},
			{Do: org + "/actions/runners", As: "alice", Status: 200, Want: `{"runners": []}`},
			{Do: org + "/actions/runner-groups", As: "alice", Status: 200, Want: `{"runner_groups": []}`},
			{Do: org + "/actions/permissions", As: "alice", Status: 200, Body: `{"enabled_repositories":"none"}`},
			{Do: org + "/actions/cache/usage", As: "alice", Status: 200, Want: `{"total_active_caches_count": 0}`},
			{Do: org + "/actions/secrets", As: "bob", Status: 403},
			{Do: org + "/actions/secrets", Status: 401},
			{Do: "GET /orgs/bob/actions/secrets", As: "bob", Status: 404},

			{Name: "the server's networks", Do: "GET /meta", Status: 200, Want: `{"hooks": [], "git": []}`},
		})
	})
}

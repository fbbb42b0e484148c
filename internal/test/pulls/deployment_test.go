package pulls_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Deploy tools tell what is where: a deployment has the state of its latest status, a success takes the place of
// earlier ones, and what is live is not deleted by mistake.
func TestDeployments(t *testing.T) {
	t.Parallel()
	const at = "/repos/alice/plot"
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		deploy := func(name, as, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "POST " + at + "/deployments", As: as, Send: send, Status: status, Want: want}
		}
		tell := func(name, id, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "POST " + at + "/deployments/" + id + "/statuses", As: "will", Send: send,
				Status: status, Want: want}
		}
		list := func(query, want string) apitest.Case {
			return apitest.Case{Do: "GET " + at + "/deployments" + query, Status: 200, Want: want}
		}
		s.Run(t, []apitest.Case{
			list("", `[]`),
			deploy("a reader", "sam", `{"ref": "main"}`, 403, ``),
			{Name: "nobody", Do: "POST " + at + "/deployments", Send: `{"ref": "main"}`, Status: 401},
			deploy("no ref", "will", `{}`, 422, `{"errors": [{"resource": "Deployment", "field": "ref", "code": "missing_field"}]}`),
			deploy("none", "will", `{"ref": "nope"}`, 422, `{"message": "No ref found for: nope"}`),
			deploy("bad payload", "will", `{"ref": "main", "payload": 7}`, 422, `{"errors": [{"field": "payload"}]}`),
			deploy("all by default", "will", `{"ref": "main"}`, 201, `{"id": 1, "sha": "`+sha+`", "ref": "main",
				"task": "deploy", "environment": "production", "original_environment": "production", "payload": "",
				"description": null, "production_environment": true, "transient_environment": false,
				"creator": {"login": "will"}, "url": "{base}`+at+`/deployments/1"}`),
			{Do: "DELETE " + at + "/deployments/1", As: "sam", Status: 403},
			{Do: "POST " + at + "/statuses/" + sha, As: "will", Send: `{"state": "pending", "context": "CI"}`, Status: 201},
			deploy("a status is missing", "will", `{"ref": "main"}`, 409, `{"message": "Conflict: Commit status checks failed for main."}`),
			deploy("of no matter", "will", `{"ref": "main", "required_contexts": [], "environment": "Staging",
				"payload": {"bed": [1]}, "task": "deploy:all", "description": "Roses"}`, 201,
				`{"id": 2, "payload": {"bed": [1]}, "production_environment": false}`),
			deploy("required", "will", `{"ref": "main", "required_contexts": ["ci"]}`, 409, ``),
			{Do: "POST " + at + "/statuses/" + sha, As: "will", Send: `{"state": "success", "context": "CI"}`, Status: 201},
			deploy("given", "will", `{"ref": "`+sha[:10]+`", "required_contexts": ["ci"], "environment": "Staging"}`, 201,
				`{"id": 3, "ref": "`+sha[:10]+`", "sha": "`+sha+`"}`),
			list("", `[{"id": 3}, {"id": 2}, {"id": 1}]`), list("?environment=Staging&ref=none", `[{"id": 3}, {"id": 2}]`),
			list("?ref=main&task=deploy", `[{"id": 1}]`), list("?sha="+sha+"&per_page=1&page=2", `[{"id": 2}]`),

			tell("no state", "2", `{}`, 422, ``), tell("not one", "2", `{"state": "done"}`, 422, ``),
			tell("not by HTTP", "2", `{"state": "success", "log_url": "javascript:x"}`, 422, `{"errors": [{"field": "log_url"}]}`),
			tell("none", "9", `{"state": "success"}`, 404, ``),
			{Do: "POST " + at + "/deployments/2/statuses", As: "sam", Send: `{"state": "success"}`, Status: 403},
			tell("begun", "2", `{"state": "in_progress", "target_url": "https://ci.example/1"}`, 201,
				`{"id": 1, "state": "in_progress", "log_url": "https://ci.example/1", "target_url": "https://ci.example/1",
				"environment": "Staging", "environment_url": "", "deployment_url": "{base}`+at+`/deployments/2"}`),
			tell("done", "2", `{"state": "success", "environment_url": "https://staging.example"}`, 201, ``),
			{Name: "live, and not the only one", Do: "DELETE " + at + "/deployments/2", As: "will", Status: 422},
			tell("the next", "3", `{"state": "success"}`, 201, ``),
			{Name: "the earlier one is inactive", Do: "GET " + at + "/deployments/2/statuses", Status: 200,
				Want: `[{"id": 4, "state": "inactive", "creator": {"login": "will"}}, {"id": 2, "state": "success"},
				{"id": 1, "state": "in_progress"}]`},
			{Do: "GET " + at + "/deployments/2/statuses/4", Status: 200, Want: `{"state": "inactive"}`},
			{Name: "of another one", Do: "GET " + at + "/deployments/3/statuses/4", Status: 404},
			tell("elsewhere", "1", `{"state": "success", "environment": "staging 2"}`, 201, `{"environment": "staging 2"}`),
			{Do: "GET " + at + "/deployments/1", Status: 200,
				Want: `{"environment": "staging 2", "original_environment": "production"}`},
			{Do: "GET " + at + "/environments", Status: 200, Want: `{"total_count": 3, "environments": [{"name": "production"},
				{"name": "Staging", "protection_rules": [], "deployment_branch_policy": null}, {"name": "staging 2",
				"url": "{base}` + at + `/environments/staging%202"}]}`},
			{Do: "DELETE " + at + "/deployments/2", As: "will", Status: 204},
			{Do: "GET " + at + "/deployments/2", Status: 404},
			{Do: "GET " + at + "/deployments/3/statuses?per_page=1", Status: 200, Want: `[{"id": 3}]`},

			{Name: "a page", Do: "GET /alice/plot/deployments", Headers: map[string]string{"Accept": apitest.Browser}, Status: 200},
			{Do: "PATCH " + at, As: "alice", Send: `{"name": "bed", "private": true}`, Status: 200},
			{Name: "hidden", Do: "GET /repos/alice/bed/deployments", Status: 404},
			{Name: "renamed", Do: "GET " + at + "/deployments/3", As: "alice", Status: 301},
			{Name: "the ref goes", Do: "GET /repos/alice/bed/deployments/3", As: "alice", Status: 200,
				Want: `{"url": "{base}/repos/alice/bed/deployments/3"}`},
			{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: "POST /repos/alice/bed/deployments", As: "alice", Send: `{"ref": "main"}`, Status: 403},
			{Do: "DELETE /repos/alice/bed", As: "alice", Status: 204},
		})
	})
}

// Environments store what they demand, for administrators to change, and outlive nobody's account.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	const at = "/repos/alice/plot/environments/"
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plot(t, s)
		s.Admin(t, "chief")
		put := func(name, as, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "PUT " + at + "east%2Fbed", As: as, Send: send, Status: status, Want: want}
		}
		var id string
		s.Check(t, apitest.Case{Do: "GET /users/sam", Status: 200, Keep: func(a *apitest.Answer) {
			var u struct{ ID int64 }
			a.JSON(t, &u)
			id = s.Access(t, "alice", "alice/plot").OwnerID.String()
		}})
		s.Run(t, []apitest.Case{
			put("a writer", "will", ``, 403, ``),
			put("made", "alice", ``, 200, `{"name": "east/bed", "protection_rules": []}`),
			put("both", "alice", `{"deployment_branch_policy": {"protected_branches": true, "custom_branch_policies": true}}`, 422, ``),
			put("too long a wait", "alice", `{"wait_timer": 43201}`, 422, ``),
			put("a team", "alice", `{"reviewers": [{"type": "Team", "id": 1}]}`, 422, ``),
			put("nobody", "alice", `{"reviewers": [{"type": "User", "id": 999}]}`, 422, ``),
			put("rules", "alice", `{"wait_timer": 3, "prevent_self_review": true, "reviewers": [{"type": "User", "id": `+id+`}],
				"deployment_branch_policy": {"protected_branches": false, "custom_branch_policies": true}}`, 200,
				`{"protection_rules": [{"type": "wait_timer", "wait_timer": 3}, {"type": "required_reviewers",
				"prevent_self_review": true, "reviewers": [{"type": "User", "reviewer": {"login": "alice"}}]},
				{"type": "branch_policy"}], "deployment_branch_policy": {"protected_branches": false, "custom_branch_policies": true}}`),
			{Name: "case does not matter", Do: "GET " + at + "East%2Fbed", Status: 200, Want: `{"name": "east/bed"}`},
			{Name: "told", Do: "GET /admin/audit-log?phrase=action:environment.create", As: "chief", Status: 200,
				Want: `[{"action": "environment.create", "actor": "alice"}]`},
			{Do: "POST /repos/alice/plot/deployments", As: "will", Status: 201,
				Send: `{"ref": "main", "environment": "preview"}`},
			{Do: "DELETE /admin/users/will", As: "chief", Status: 204},
			{Name: "of ghost", Do: "GET /repos/alice/plot/deployments/1", Status: 200, Want: `{"creator": {"login": "ghost"}}`},
			{Do: "DELETE " + at + "east%2Fbed", As: "alice", Status: 204},
			{Do: "DELETE " + at + "east%2Fbed", As: "alice", Status: 404},
			{Do: "DELETE " + at + "preview", As: "alice", Status: 204},
			{Name: "deployments stay", Do: "GET /repos/alice/plot/deployments", Status: 200, Want: `[{"environment": "preview"}]`},
		})
	})
}

package pages_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Administrators protect a branch with a form, and the merge box says what is missing.
func TestBranchRulesByForm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		const at, protection = "/alice/garden/settings/rules", "/repos/alice/garden/branches/main/protection"
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "a", "content": "MQo="}`, 201)
		s.Visit(t, "bob", "GET "+at).Shows(t, 403)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "There are none.")
		s.Visit(t, "alice", "POST "+at, "do", "save", "pattern", "main", "pull", "1", "approvals", "11").Shows(t, 422)
		s.Visit(t, "alice", "POST "+at, "do", "save", "pattern", "main", "pull", "1", "approvals", "2", "stale", "1",
			"checks", "build\nlint", "strict", "1", "admins", "1").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET " + protection, As: "alice", Status: 200, Want: `{"enforce_admins": {"enabled": true},
			"required_pull_request_reviews": {"required_approving_review_count": 2, "dismiss_stale_reviews": true},
			"required_status_checks": {"strict": true, "contexts": ["build", "lint"]}, "allow_deletions": {"enabled": false}}`})
		s.Visit(t, "alice", "GET "+at+"?edit=1").Shows(t, 200, "main", "2 approvals", "Edit a rule")
		s.Visit(t, "alice", "POST "+at, "do", "save", "pattern", "main", "deletions", "1").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET " + protection, As: "alice", Status: 200,
			Want: `{"required_pull_request_reviews": "$absent", "allow_deletions": {"enabled": true}}`})
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", "1").Leads(t, at)
		s.Ask(t, "alice", "GET "+protection, "", 404)
	})
}

// Administrators add a merge queue with a form, which says under each field what is wrong with it, change it without
// touching other rules of its ruleset, and remove it.
func TestMergeQueueByForm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		const at, sets = "/alice/garden/settings/rules", "/repos/alice/garden/rulesets"
		form := func(more ...string) []string {
			return append([]string{"do", "queue", "name", "q", "branches", "main\nrelease/*\n",
				"merge_method", "SQUASH",
				"grouping_strategy", "HEADGREEN", "max_entries_to_build", "3", "max_entries_to_merge", "2",
				"min_entries_to_merge",
				"1", "min_entries_to_merge_wait_minutes", "0", "check_response_timeout_minutes", "90"}, more...)
		}
		s.Visit(t, "bob", "POST "+at, form()...).Shows(t, 403)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "Add a merge queue", `name="max_entries_to_build"`)
		wrong := form()
		wrong[5], wrong[11], wrong[19] = " ", "101", "soon"
		s.Visit(t, "alice", "POST "+at, wrong...).Shows(t, 422, `value="101" aria-invalid="true"`,
			"must be between 0 and 100",
			`id="wrong-max_entries_to_build"`, `value="soon" aria-invalid="true"`,
			"Name at least one branch.", `value="SQUASH" selected`)
		s.Visit(t, "alice", "POST "+at, form()...).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, form()...).Shows(t, 422, `id="wrong-name"`, "Name must be unique")
		s.Check(t, apitest.Case{Do: "GET " + sets + "/1", As: "alice", Status: 200, Want: `{"name": "q", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["refs/heads/main", "refs/heads/release/*"]}},
				"rules": [{"type": "merge_queue",
			"parameters": {"merge_method": "SQUASH", "grouping_strategy": "HEADGREEN", "max_entries_to_build": 3,
			"max_entries_to_merge": 2, "min_entries_to_merge_wait_minutes": 0, "check_response_timeout_minutes": 90}}]}`})
		s.Ask(t, "alice", "PUT "+sets+"/1", `{"rules": [{"type": "deletion"}, {"type": "merge_queue", "parameters": {
			"merge_method": "REBASE"}}]}`, 200)
		s.Visit(t, "alice", "GET "+at+"?queue=1").Shows(t, 200, "Edit a merge queue",
			`value="REBASE" selected`, "release/*")
		s.Visit(t, "alice", "POST "+at, form("id", "1")...).Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET " + sets + "/1", As: "alice", Status: 200,
			Want: `{"rules": [{"type": "deletion"}, {"type": "merge_queue", "parameters": {"merge_method": "SQUASH"}}]}`})
		s.Visit(t, "alice", "POST "+at, "do", "unqueue", "id", "1").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET " + sets + "/1", As: "alice", Status: 200,
			Want: `{"rules": [{"type": "deletion"}]}`})
		s.Visit(t, "alice", "POST "+at, form("id", "1")...).Shows(t, 409, "no merge queue any more")
		s.Ask(t, "alice", "DELETE "+sets+"/1", "", 204)
		s.Visit(t, "alice", "POST "+at, form()...).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "unqueue", "id", "2").Leads(t, at)
		s.Ask(t, "alice", "GET "+sets+"/2", "", 404)
	})
}

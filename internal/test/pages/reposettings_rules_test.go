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

package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Each role may do what GitHub's table says, and no more: a maintainer who could change collaborators would be
// an administrator, and a triager who cannot label has a role for nothing (decision 12). Each row is tried by
// all five; {who} is the caller.
func TestRolesMayDo(t *testing.T) {
	t.Parallel()
	const issue, pull = "/issues/1", "/pulls/2"
	rows := []struct {
		name, do, send string
		least          account.Role
	}{
		{"open an issue", "POST /issues", `{"title": "x"}`, account.Pull},
		{"comment", "POST " + issue + "/comments", `{"body": "x"}`, account.Pull},
		{"review", "POST " + pull + "/reviews", `{"body": "x", "event": "COMMENT"}`, account.Pull},
		{"label", "POST " + issue + "/labels", `{"labels": ["bug"]}`, account.Triage},
		{"set labels", "PUT " + issue + "/labels", `{"labels": ["bug"]}`, account.Triage},
		{"remove labels", "DELETE " + issue + "/labels", "", account.Triage},
		{"set labels with the issue", "PATCH " + issue, `{"labels": ["bug"]}`, account.Triage},
		{"assign", "POST " + issue + "/assignees", `{"assignees": ["writer"]}`, account.Triage},
		{"unassign", "DELETE " + issue + "/assignees", `{"assignees": ["writer"]}`, account.Triage},
		{"put into a milestone", "PATCH " + issue, `{"milestone": 1}`, account.Triage},
		{"close", "PATCH " + issue, `{"state": "closed"}`, account.Triage},
		{"close as a duplicate", "PATCH " + issue, `{"state": "closed", "state_reason": "duplicate"}`,
			account.Triage},
		{"reopen", "PATCH " + issue, `{"state": "open"}`, account.Triage},
		{"close a pull request", "PATCH " + pull, `{"state": "closed"}`, account.Triage},
		{"reopen a pull request", "PATCH " + pull, `{"state": "open"}`, account.Triage},
		{"ask for a review", "POST " + pull + "/requested_reviewers", `{"reviewers": ["reader"]}`,
			account.Triage},
		{"take that back", "DELETE " + pull + "/requested_reviewers", `{"reviewers": ["reader"]}`,
			account.Triage},
		{"edit a title", "PATCH " + issue, `{"title": "x"}`, account.Push},
		{"edit a text", "PATCH " + issue, `{"body": null, "state": "open"}`, account.Push},
		{"edit a pull request's title", "PATCH " + pull, `{"title": "x"}`, account.Push},
		{"change a base", "PATCH " + pull, `{"base": "main"}`, account.Push},
		{"edit a comment", "PATCH /issues/comments/1", `{"body": "x"}`, account.Push},
		{"create a label", "POST /labels", `{"name": "by-{who}"}`, account.Push},
		{"create a label with an issue's", "POST " + issue + "/labels", `{"labels": ["of-{who}"]}`,
			account.Push},
		{"create a milestone", "POST /milestones", `{"title": "by-{who}"}`, account.Push},
		{"lock", "PUT " + issue + "/lock", "", account.Push},
		{"unlock", "DELETE " + issue + "/lock", "", account.Push},
		{"create a ref", "POST /git/refs", `{"ref": "refs/heads/{who}", "sha": "{sha}"}`, account.Push},
		{"list collaborators", "GET /collaborators", "", account.Push},
		{"set topics", "PUT /topics", `{"names": ["hall"]}`, account.Maintain},
		{"describe", "PATCH ", `{"description": "{who}", "homepage": "https://example.org"}`,
			account.Maintain},
		{"configure merging", "PATCH ", `{"allow_rebase_merge": false}`, account.Maintain},
		{"send what is so", "PATCH ", `{"name": "hall", "private": false, "has_issues": true}`,
			account.Maintain},
		{"become a template", "PATCH ", `{"is_template": true}`, account.Admin},
		{"rename", "PATCH ", `{"name": "hall-{who}"}`, account.Admin},
		{"list webhooks", "GET /hooks", "", account.Admin},
		{"grant", "PUT /collaborators/guest", `{"permission": "pull"}`, account.Admin},
		{"protect", "PUT /branches/main/protection", `{"required_status_checks": null, "enforce_admins": null,
			"required_pull_request_reviews": null, "restrictions": null}`, account.Admin},
		{"make an environment", "PUT /environments/stage", "", account.Admin},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Org(t, "guild", s.User(t, "owner").Login)
		s.User(t, "guest")
		callers := map[account.Role]string{account.Pull: "reader", account.Triage: "sorter",
			account.Push: "writer", account.Maintain: "warden", account.Admin: "keeper"}
		hall := s.Repo(t, "guild/hall", false)
		for role := account.Pull; role <= account.Admin; role++ {
			s.User(t, callers[role])
			s.Grant(t, hall, callers[role], role)
		}
		const at = "/repos/guild/hall"
		s.Ask(t, "owner", "PUT "+at+"/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
		sha := s.Tip(t, "owner", "guild/hall", "main")
		s.Ask(t, "owner", "POST "+at+"/git/refs", `{"ref": "refs/heads/topic", "sha": "`+sha+`"}`, 201)
		s.Ask(t, "owner", "PUT "+at+"/contents/b", `{"message": "b", "content": "YQ==", "branch": "topic"}`,
			201)
		s.Ask(t, "owner", "POST "+at+"/issues", `{"title": "x"}`, 201)
		s.Ask(t, "owner", "POST "+at+"/pulls", `{"title": "x", "head": "topic", "base": "main"}`, 201)
		s.Ask(t, "owner", "POST "+at+"/issues/1/comments", `{"body": "x"}`, 201)
		s.Ask(t, "owner", "POST "+at+"/milestones", `{"title": "x"}`, 201)
		for _, row := range rows {
			for role := account.Pull; role <= account.Admin; role++ {
				who := callers[role]
				method, path, _ := strings.Cut(row.do, " ")
				send := strings.NewReplacer("{who}", who, "{sha}", sha).Replace(row.send)
				a := s.Do(t, apitest.Case{Do: method + " " + at + path, As: who, Send: send,
					Headers: map[string]string{"Accept": "application/vnd.github+json"}})
				if may := role >= row.least; may != (a.Status < 300) || !may && a.Status != 403 {
					t.Errorf("%s as %s: %d %s", row.name, role, a.Status, a.Body)
				}
			}
			if row.name == "rename" {
				s.Ask(t, "owner", "PATCH /repos/guild/hall-keeper", `{"name": "hall"}`, 200)
			}
		}
	})
}

// A triager who names a label that does not exist must change nothing.
func TestTriageCreatesNoLabels(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "sorter")
		s.Grant(t, s.Repo(t, "alice/garden", false), "sorter", account.Triage)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/garden/issues", As: "sorter", Send: `{"title": "x", "labels": ["slimy"]}`,
				Status: 403, Want: `{"message": "Must have push access to Repository."}`},
			{Do: "GET /repos/alice/garden/issues", Status: 200, Body: "[]"},
			{Do: "POST /repos/alice/garden/issues", As: "sorter", Send: `{"title": "x", "labels": ["bug"]}`,
				Status: 201, Want: `{"labels": [{"name": "bug"}]}`},
			{Do: "PUT /repos/alice/garden/issues/1/labels", As: "sorter", Send: `{"labels": ["slimy"]}`,
				Status: 403},
			{Do: "GET /repos/alice/garden/issues/1", Status: 200, Want: `{"labels": [{"name": "bug"}]}`},
			{Do: "GET /repos/alice/garden/labels/slimy", Status: 404},
		})
	})
}

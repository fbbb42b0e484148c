package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Pages offer what the role allows and no form that would be refused.
func TestPagesByRole(t *testing.T) {
	t.Parallel()
	offers := []struct {
		at, text string
		least    account.Role // of those who are offered it
	}{
		{"/issues/1", "Choose labels", account.Triage},
		{"/issues/1", "Close as completed", account.Triage},
		{"/issues/1", "Edit title", account.Push},
		{"/issues/1", "assign yourself", account.Push},
		{"/issues/1", "Lock conversation", account.Push},
		{"/issues/1", "Delete issue", account.Admin},
		{"/issues/new", `name="label"`, account.Triage},
		{"/issues", `id="bulk"`, account.Triage},
		{"/labels", "New label", account.Push},
		{"/pull/2", "Choose reviewers", account.Triage},
		{"/pull/2", "Convert to draft", account.Push},
		{"/pull/2", "Change base", account.Push},
		{"", `/alice/garden/settings"`, account.Maintain},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		byRole(t, s)
		for role := account.Pull; role <= account.Admin; role++ {
			for _, o := range offers {
				body := string(s.Visit(t, loginOf(role), "GET /alice/garden"+o.at).Body)
				if may := role >= o.least; may != strings.Contains(body, o.text) {
					t.Errorf("%s as %s: offered %q: %t, want %t", o.at, role, o.text, !may, may)
				}
			}
		}
	})
}

// byRole creates alice/garden with an issue, a pull request, and a collaborator for each role.
func byRole(t *testing.T, s *apitest.Server) {
	t.Helper()
	garden(t, s)
	s.Ask(t, "alice", "PUT /repos/alice/garden/contents/dev",
		`{"message": "x", "content": "eA==", "branch": "dev"}`, 201)
	s.Ask(t, "alice", "POST /repos/alice/garden/issues", `{"title": "Slugs"}`, 201)
	s.Ask(t, "alice", "POST /repos/alice/garden/pulls", `{"title": "Beds", "head": "dev", "base": "main"}`,
		201)
	for role := account.Pull; role <= account.Admin; role++ {
		s.User(t, loginOf(role))
		s.Ask(t, "alice", "PUT /repos/alice/garden/collaborators/"+loginOf(role),
			`{"permission": "`+role.String()+`"}`, 204)
	}
}

// The forms of an issue and of the settings take what the role allows.
func TestFormsByRole(t *testing.T) {
	t.Parallel()
	const issue, settings = "/alice/garden/issues/1", "/alice/garden/settings"
	forms := []struct {
		to    string
		pairs []string
		least account.Role
	}{
		{issue + "/labels", []string{"label", "bug"}, account.Triage},
		{issue + "/assignees", []string{"assignee", "sam"}, account.Triage},
		{issue + "/state", []string{"state", "not_planned"}, account.Triage},
		{"/alice/garden/issues/bulk", []string{"do", "open", "number", "1"}, account.Triage},
		{"/alice/garden/pull/2/reviewers", []string{"reviewer", "sam"}, account.Triage},
		{issue + "/lock", nil, account.Push},
		{issue + "/lock", []string{"unlock", "1"}, account.Push},
		{issue + "/pin", nil, account.Push},
		{settings, []string{"do", "topics", "topics", "plants"}, account.Maintain},
		{settings, []string{"do", "details", "description", "Beds"}, account.Maintain},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		byRole(t, s)
		for _, f := range forms {
			for role := account.Pull; role < account.Admin; role++ {
				a := s.Visit(t, loginOf(role), "POST "+f.to, f.pairs...)
				if may := role >= f.least; may != (a.Status == 303) {
					t.Errorf("%s %q as %s: %d", f.to, f.pairs, role, a.Status)
				}
			}
		}
		show(t, s, loginOf(account.Maintain), settings, `value="Beds"`, "Merge methods")
		body := string(s.Visit(t, loginOf(account.Maintain), "GET "+settings).Body)
		for _, text := range []string{"Danger zone", `name="default_branch"`, "/settings/access"} {
			if strings.Contains(body, text) {
				t.Errorf("maintainers are shown %s", text)
			}
		}
		s.Ask(t, "", "GET /repos/alice/garden", "", 200)
		for _, page := range []string{"/access", "/keys", "/rules", "/hooks", "/delete"} {
			s.Visit(t, loginOf(account.Maintain), "GET "+settings+page).Shows(t, 403)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"description": "Beds", "topics": ["plants"], "default_branch": "main", "has_issues": true}`})
	})
}

// loginOf is the collaborator of a role.
func loginOf(role account.Role) string { return "can-" + role.String() }

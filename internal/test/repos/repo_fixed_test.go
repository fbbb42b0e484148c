package repos_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
)

// An unsupported field is rejected if it would change something, and accepted with its current value. Switches
// of features that are not here stay off, and the answer says so (decision 65).
func TestFixedFields(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", false)
		s.Ask(t, "alice", "POST /repos/alice/garden/issues", `{"title": "t", "type": null}`, 201)
		field := func(do, rest, name, value string, status int) {
			t.Helper()
			want := ""
			if status == 422 {
				want = fmt.Sprintf(`{"errors": [{"field": %q, "code": "invalid"}]}`, name)
			}
			s.Check(t, apitest.Case{Name: do + " " + name + " " + value, Do: do, As: "alice",
				Status: status, Want: want,
				Send: fmt.Sprintf(`{%s%q: %s}`, rest, name, value)})
		}
		for n, c := range []struct{ name, is, other string }{
			{"has_wiki", "false", "1"}, {"has_projects", "true", `"x"`}, {"is_template", "false", "1"},
			{"squash_merge_commit_title", `"COMMIT_OR_PR_TITLE"`, `"BLANK"`},
			{"merge_commit_message", `"PR_TITLE"`, `"COMMIT_MESSAGES"`},
		} {
			field("PATCH /repos/alice/garden", "", c.name, c.is, 200)
			field("PATCH /repos/alice/garden", "", c.name, "null", 200)
			field("PATCH /repos/alice/garden", "", c.name, c.other, 422)
			field("POST /user/repos", fmt.Sprintf(`"name": "other%d", `, n), c.name, c.other, 422)
			field("POST /user/repos", fmt.Sprintf(`"name": "r%d", `, n), c.name, c.is, 201)
		}
		for _, c := range []struct{ do, rest, name, is, other string }{
			{"PATCH /repos/alice/garden", "", "allow_forking", "true", "false"},
			{"PATCH /repos/alice/garden", "", "security_and_analysis",
				`{"secret_scanning": {"status": "disabled"}}`, `{"secret_scanning": {"status": "enabled"}}`},
			{"PATCH /orgs/guild", "", "members_can_create_repositories", "true", `"x"`},
			{"PATCH /orgs/guild", "", "members_can_create_internal_repositories", "false", "true"},
			{"PATCH /orgs/guild", "", "members_allowed_repository_creation_type", `"all"`, `"some"`},
			{"PATCH /orgs/guild", "", "billing_email", `"a@b.c"`, `"a"`},
			{"PATCH /orgs/guild", "", "has_organization_projects", "true", `1`},
			{"PATCH /orgs/guild", "", "web_commit_signoff_required", "false", "true"},
			{"PATCH /user", "", "hireable", "false", "true"},
			{"PATCH /user", "", "twitter_username", "null", `"x"`},
			{"POST /repos/alice/garden/issues", `"title": "t", `, "type", `""`, `"Bug"`},
			{"PATCH /repos/alice/garden/issues/1", "", "issue_field_values", `[]`, `[{"field_id": 1}]`},
			{"PATCH /repos/alice/garden/issues/1", "", "duplicate_issue_id", "null", "2"},
		} {
			field(c.do, c.rest, c.name, c.other, 422)
			a := s.Do(t, apitest.Case{Do: c.do, As: "alice",
				Send: fmt.Sprintf(`{%s%q: %s}`, c.rest, c.name, c.is)})
			if a.Status/100 != 2 {
				t.Errorf("%s %s %s: %d %s", c.do, c.name, c.is, a.Status, a.Body)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "switches of what is not here", Do: "PATCH /repos/alice/garden", As: "alice", Status: 200,
				Send: `{"has_wiki": true, "has_projects": true, "has_downloads": true, "has_discussions": true,
					"allow_update_branch": true}`,
				Want: `{"has_wiki": false, "has_projects": false, "has_downloads": false, "has_discussions": false,
					"allow_update_branch": false}`},
			{Name: "of an organization", Do: "PATCH /orgs/guild", As: "alice", Status: 200,
				Send: `{"has_organization_projects": true, "members_can_create_pages": true, "billing_email": "a@b.c"}`,
				Want: `{"has_organization_projects": false, "members_can_create_repositories": true,
					"members_can_create_public_repositories": true, "members_can_create_private_repositories": true,
					"members_allowed_repository_creation_type": "all", "billing_email": "a@b.c"}`},
			{Name: "null is an empty body, as Terraform sends it", Do: "PATCH /orgs/guild", As: "alice",
				Send: " null\n", Status: 200, Want: `{"login": "guild"}`},
			{Do: "PATCH /orgs/guild", As: "alice", Send: `[]`, Status: 400},
		})
	})
}

package repos_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
)

// An unsupported field is rejected if it would change something, and accepted with its current value: no
// client is told that a wiki was enabled (decision 65).
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
			{"has_wiki", "false", "true"}, {"has_projects", "false", "true"}, {"is_template", "false", "1"},
			{"squash_merge_commit_title", `"COMMIT_OR_PR_TITLE"`, `"BLANK"`},
			{"merge_commit_message", `"PR_TITLE"`, `"COMMIT_MESSAGES"`},
		} {
			field("PATCH /repos/alice/garden", "", c.name, c.is, 200)
			field("PATCH /repos/alice/garden", "", c.name, "null", 200)
			field("PATCH /repos/alice/garden", "", c.name, c.other, 422)
			made := 422
			if c.name == "has_wiki" || c.name == "has_projects" { // as GitHub has them, so clients send them
				made = 201
			}
			field("POST /user/repos", fmt.Sprintf(`"name": "other%d", `, n), c.name, c.other, made)
			field("POST /user/repos", fmt.Sprintf(`"name": "r%d", `, n), c.name, c.is, 201)
		}
		for _, c := range []struct{ do, rest, name, is, other string }{
			{"PATCH /repos/alice/garden", "", "allow_forking", "true", "false"},
			{"PATCH /repos/alice/garden", "", "security_and_analysis",
				`{"secret_scanning": {"status": "disabled"}}`, `{"secret_scanning": {"status": "enabled"}}`},
			{"PATCH /orgs/guild", "", "members_can_create_repositories", "true", "false"},
			{"PATCH /orgs/guild", "", "billing_email", `""`, `"a@b.c"`},
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
	})
}

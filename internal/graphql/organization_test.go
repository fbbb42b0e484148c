package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// An organization tells its members that they are members, and what it is about.
func TestOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PATCH /orgs/garden", As: "alice", Send: `{"description": "Peas & beans"}`, Status: 200},
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
		})
		for login, member := range map[string]string{"alice": "true", "rae": "true", "will": "false"} {
			ask{as: login, query: `{organization(login:"garden"){description viewerIsAMember}}`,
				want: `{"data": {"organization": {"description": "Peas & beans",
					"viewerIsAMember": ` + member + `}}}`}.check(t, s)
		}
	})
}

// Issues are transferred and deleted with the rights of REST, and the audit log says who did it.
func TestDepartedIssuesAreAudited(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/garden/plot/issues", As: "sam", Send: `{"title": "Slugs"}`, Status: 201},
			{Do: "POST /repos/garden/plot/issues", As: "sam", Send: `{"title": "Snails"}`, Status: 201},
		})
		v := map[string]any{"one": member(t, s, "alice", "/repos/garden/plot/issues/1", "node_id"),
			"two":  member(t, s, "alice", "/repos/garden/plot/issues/2", "node_id"),
			"shed": member(t, s, "alice", "/repos/garden/shed", "node_id")}
		move := `mutation($one:ID!,$shed:ID!){transferIssue(input:{issueId:$one,repositoryId:$shed}){issue{number}}}`
		remove := `mutation($two:ID!){deleteIssue(input:{issueId:$two}){repository{name}}}`
		const forbidden = `"errors": [{"type": "FORBIDDEN"}]`
		for _, a := range []ask{
			{as: "sam", query: remove, want: `{"data": {"deleteIssue": null}, ` + forbidden + `}`},
			{as: "will", query: remove, want: `{"data": {"deleteIssue": null}, ` + forbidden + `}`},
			{as: "sam", query: move, want: `{"data": {"transferIssue": null}, "errors": [{"type": "NOT_FOUND"}]}`},
			{as: "will", query: move, want: `{"data": {"transferIssue": {"issue": {"number": 1}}}}`},
			{query: remove, want: `{"data": {"deleteIssue": {"repository": {"name": "plot"}}}}`},
		} {
			a.variables = v
			a.check(t, s)
		}
		s.Run(t, []apitest.Case{{Do: "GET /orgs/garden/audit-log?phrase=action:issue", As: "alice", Status: 200,
			Want: `[{"action": "issue.destroy", "actor": "alice", "repo": "garden/plot"},
				{"action": "issue.transfer", "actor": "will", "repo": "garden/plot"}]`}})
	})
}

package graphql_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
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

// Owners see the audit log of their organization, of the kinds that GitHub's schema has. Others see none of it.
func TestOrganizationAuditLog(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/garden/memberships/rae", As: "alice", Send: `{"role": "member"}`, Status: 200},
			{Do: "POST /orgs/garden/repos", As: "alice", Send: `{"name": "bed", "private": true}`, Status: 201},
			{Do: "PATCH /repos/garden/bed", As: "alice", Send: `{"private": false}`, Status: 200},
			{Do: "POST /orgs/garden/teams", As: "alice", Send: `{"name": "Growers"}`, Status: 201},
			{Do: "PUT /orgs/garden/teams/growers/repos/garden/bed", As: "alice", Send: `{"permission": "push"}`, Status: 204},
		})
		const query = `{organization(login:"garden"){auditLog(first:5,query:"action:repo repo:garden/bed"){totalCount nodes{
			__typename ...on AuditEntry{action actorLogin operationType actor{...on User{login}}} ...on RepositoryAuditEntryData{
			repositoryName repository{name}} ...on OrganizationAuditEntryData{organizationName organization{login}}
			...on RepoAccessAuditEntry{visibility}}}
			old:auditLog(first:1,query:"action:repo repo:garden/bed",orderBy:{field:CREATED_AT,direction:ASC}){totalCount nodes{
			...on AuditEntry{action}} pageInfo{hasNextPage}}
			team:auditLog(first:5,query:"action:team.add_repository"){nodes{...on TeamAuditEntryData{teamName}}}
			none:auditLog(first:5,query:"action:hook.create"){totalCount}}}`
		const common = `"actorLogin": "alice", "actor": {"login": "alice"}, "repositoryName": "garden/bed",
			"repository": {"name": "bed"}, "organizationName": "garden", "organization": {"login": "garden"}`
		ask{as: "alice", query: query, want: `{"data": {"organization": {"auditLog": {"totalCount": 2, "nodes": [
			{"__typename": "RepoAccessAuditEntry", "action": "repo.access", "operationType": "MODIFY", "visibility": "PUBLIC", ` +
			common + `}, {"__typename": "RepoCreateAuditEntry", "action": "repo.create", "operationType": "CREATE", ` + common + `}]},
			"old": {"totalCount": 2, "nodes": [{"action": "repo.create"}], "pageInfo": {"hasNextPage": true}},
			"team": {"nodes": [{"teamName": "growers"}]}, "none": {"totalCount": 0}}}}`}.check(t, s)
		for _, as := range []string{"rae", "sam"} {
			ask{as: as, query: query, want: `{"data": {"organization": {"auditLog": {"totalCount": 0, "nodes": []},
				"team": {"nodes": []}}}}`}.check(t, s)
		}
		ask{as: "alice", query: `{organization(login:"garden"){auditLog(first:5,query:"place:here"){totalCount}}}`,
			want: `{"errors": [{"type": "UNPROCESSABLE"}]}`}.check(t, s)
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

// Owners see whom imports named in the repositories of their organization. Others see none.
func TestOrganizationMannequins(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Ask(t, "alice", "PUT /orgs/garden/memberships/rae", `{"role": "member"}`, 200)
		s.Org(t, "guild", "will")
		hall := s.Repo(t, "guild/hall", false)
		plot := s.Access(t, "alice", "garden/plot").Repo
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for login, in := range map[string][]repo.ID{"Zoe": {plot.ID}, "ann": {plot.ID, hall.ID}, "bea": {hall.ID}} {
				made, err := account.MakeMannequins(tx, []account.Origin{{Host: "code.example.org", Login: login}})
				for _, id := range in {
					if err == nil {
						err = account.NameMannequin(tx, made[account.Fold(login)], int64(id))
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
		const query = `{organization(login:"garden"){all:mannequins(first:5,orderBy:{field:LOGIN,direction:DESC}){totalCount
			nodes{login email claimant{login} createdAt}} one:mannequins(first:5,login:"ann"){totalCount nodes{login}}}}`
		ask{as: "alice", query: query, want: `{"data": {"organization": {"all": {"totalCount": 2, "nodes": [
			{"login": "Zoe[code.example.org]", "email": null, "claimant": null}, {"login": "ann[code.example.org]"}]},
			"one": {"totalCount": 1, "nodes": [{"login": "ann[code.example.org]"}]}}}}`}.check(t, s)
		for _, as := range []string{"rae", "will", "sam"} {
			ask{as: as, query: query, want: `{"data": {"organization": {"all": {"totalCount": 0, "nodes": []},
				"one": {"totalCount": 0}}}}`}.check(t, s)
		}
		// With the repository that is deleted they are out of sight.
		s.Ask(t, "alice", "DELETE /repos/garden/plot", "", 204)
		ask{as: "alice", query: query, want: `{"data": {"organization": {"all": {"totalCount": 0}}}}`}.check(t, s)
	})
}

package accounts_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// guildOf creates an organization with owner, the private repositories vault and attic, a member with a role on the
// vault besides the default one, and an outside collaborator.
func guildOf(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "owner", "member", "plain", "outsider", "stranger")
	s.Admin(t, "chief")
	s.Org(t, "guild", "owner")
	for _, login := range []string{"member", "plain"} {
		s.Ask(t, "owner", "PUT /orgs/guild/members/"+login, "", 204)
	}
	for _, name := range []string{"guild/vault", "guild/attic"} {
		s.Repo(t, name, true)
	}
	for _, login := range []string{"member", "outsider"} {
		s.Ask(t, "owner", "PUT /repos/guild/vault/collaborators/"+login, `{"permission": "triage"}`, 204)
	}
}

const outsiders = "/orgs/guild/outside_collaborators"

// Owners see whom they let in without a membership; nobody else learns who that is.
func TestOutsideCollaborators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guildOf(t, s)
		s.Grant(t, s.Repo(t, "guild/hall", false), "outsider", account.Push) // listed once
		s.Ask(t, "owner", "PUT /repos/guild/hall/collaborators/stranger", "", 204)
		s.Grant(t, s.Repo(t, "owner/own", false), "plain", account.Push) // of no organization
		s.Run(t, []apitest.Case{
			{Do: "GET " + outsiders, As: "owner", Status: 200,
				Want: `[{"login": "outsider"}, {"login": "stranger"}]`},
			{Do: "GET " + outsiders + "?filter=2fa_disabled", As: "owner", Status: 200,
				Want: `[{"login": "outsider"}, {"login": "stranger"}]`},
			{Do: "GET " + outsiders + "?per_page=1&page=2", As: "owner", Status: 200,
				Want: `[{"login": "stranger"}]`,
				Has: map[string]string{"Link": `<{base}` + outsiders +
					`?per_page=1&page=1>; rel="first", <{base}` + outsiders + `?per_page=1&page=1>; rel="prev"`}},
			{Do: "GET " + outsiders + "?filter=none", As: "owner", Status: 422,
				Want: `{"errors": [{"field": "filter", "code": "invalid"}]}`},
			{Do: "GET " + outsiders, As: "chief", Status: 200},
			{Do: "GET " + outsiders, As: "member", Status: 403},
			{Do: "GET " + outsiders + "?filter=none", As: "outsider", Status: 403},
			{Do: "GET " + outsiders, Status: 401},
			{Do: "GET /orgs/owner/outside_collaborators", As: "owner", Status: 404},
			{Name: "a member is none", Do: "PUT /orgs/guild/members/outsider", As: "owner", Status: 204},
			{Do: "GET " + outsiders, As: "owner", Status: 200, Want: `[{"login": "stranger"}]`},
		})
	})
}

// A member who becomes an outside collaborator keeps what was granted on single repositories, and loses what the
// membership gave.
func TestMembersBecomeOutsideCollaborators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guildOf(t, s)
		s.Run(t, []apitest.Case{
			{Name: "by default", Do: "GET /repos/guild/attic", As: "member", Status: 200},
			{Name: "not by a member", Do: "PUT " + outsiders + "/plain", As: "member", Status: 403},
			{Name: "not oneself", Do: "PUT " + outsiders + "/member", As: "member", Status: 403},
			{Do: "PUT " + outsiders + "/member", As: "owner", Status: 204, Body: "-"},
			{Name: "keeps the role", Do: "GET /repos/guild/vault", As: "member", Status: 200,
				Want: `{"permissions": {"triage": true, "push": false}}`},
			{Name: "and no other", Do: "GET /repos/guild/attic", As: "member", Status: 404},
			{Do: "GET /orgs/guild/members/member", As: "owner", Status: 404},
			{Do: "GET " + outsiders, As: "owner", Status: 200,
				Want: `[{"login": "member"}, {"login": "outsider"}]`},
			{Name: "no member", Do: "PUT " + outsiders + "/member", As: "owner", Status: 403,
				Want: `{"message": "\"member\" is not a member of the organization \"guild\""}`},
			{Name: "the last owner", Do: "PUT " + outsiders + "/owner", As: "owner", Status: 403},
			{Name: "nobody", Do: "PUT " + outsiders + "/nobody", As: "owner", Status: 404},
			{Name: "an owner", Do: "PUT /orgs/guild/memberships/plain", As: "owner",
				Send: `{"role": "admin"}`, Status: 200},
			{Do: "PUT " + outsiders + "/plain", As: "owner", Send: `{"async": 1}`, Status: 422},
			{Do: "PUT " + outsiders + "/plain", As: "owner", Send: `{"async": true}`, Status: 202,
				Body: "{}"},
			{Do: "GET /repos/guild/vault", As: "plain", Status: 404},
			{Do: "GET /orgs/guild/audit-log?phrase=action:org.remove_member", As: "owner", Status: 200,
				Want: `[{"user": "plain", "data": {"role": "outside_collaborator"}}, {"user": "member"}]`},
		})
	})
}

// Nothing that was granted outlasts a removal: neither of an outside collaborator, nor of a member, nor of one who
// leaves.
func TestRemovalEndsGrants(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guildOf(t, s)
		s.Grant(t, s.Repo(t, "guild/hall", true), "outsider", account.Admin)
		s.Ask(t, "owner", "PUT /repos/guild/vault/collaborators/plain", `{"permission": "maintain"}`, 204)
		s.Grant(t, s.Repo(t, "owner/own", true), "outsider", account.Pull)
		s.Run(t, []apitest.Case{
			{Name: "not by a member", Do: "DELETE " + outsiders + "/outsider", As: "member", Status: 403},
			{Name: "not oneself", Do: "DELETE " + outsiders + "/outsider", As: "outsider", Status: 403},
			{Name: "a member", Do: "DELETE " + outsiders + "/member", As: "owner", Status: 422,
				Want: `{"message":
				"You cannot specify an organization member to remove as an outside collaborator."}`},
			{Name: "nobody", Do: "DELETE " + outsiders + "/nobody", As: "owner", Status: 404},
			{Do: "DELETE " + outsiders + "/outsider", As: "owner", Status: 204, Body: "-"},
			{Do: "GET /repos/guild/vault", As: "outsider", Status: 404},
			{Do: "GET /repos/guild/hall", As: "outsider", Status: 404},
			{Name: "of another owner", Do: "GET /repos/owner/own", As: "outsider", Status: 200},
			{Name: "twice", Do: "DELETE " + outsiders + "/outsider", As: "owner", Status: 204},
			{Do: "GET /orgs/guild/audit-log?phrase=action:repo.remove_member", As: "owner", Status: 200,
				Want: `[{"user": "outsider", "repo": "guild/hall", "data": {"old_permission": "admin"}},
					{"user": "outsider", "repo": "guild/vault", "data": {"old_permission": "triage"}}]`},

			{Name: "a member is removed", Do: "DELETE /orgs/guild/members/member", As: "owner", Status: 204},
			{Do: "GET /repos/guild/vault", As: "member", Status: 404},
			{Name: "and comes back with the default role", Do: "PUT /orgs/guild/members/member",
				As: "owner", Status: 204},
			{Do: "GET /repos/guild/vault", As: "member", Status: 200,
				Want: `{"permissions": {"pull": true, "triage": false}}`},
			{Name: "a member leaves", Do: "DELETE /orgs/guild/memberships/plain", As: "plain", Status: 204},
			{Do: "GET /repos/guild/vault", As: "plain", Status: 404},
			{Do: "GET " + outsiders, As: "owner", Status: 200, Body: "[]"},
		})
	})
}

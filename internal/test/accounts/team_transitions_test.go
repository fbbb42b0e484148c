package accounts_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What teams hold after something else changes: the table of the comment of package team.
func TestTeamTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		s.Admin(t, "chief")
		teamID(t, s, `{"name":"weeders","privacy":"closed","repo_names":["shed"]}`)
		for _, who := range []string{"max", "may", "mia"} {
			s.Ask(t, "alice", "PUT "+atTeams+"/weeders/memberships/"+who, "", 200)
		}
		s.Ask(t, "alice", "PUT /repos/garden/shed/contents/a.txt", `{"message":"a","content":"eA=="}`, 201)
		s.Ask(t, "alice", "PUT /repos/garden/shed/contents/b.txt",
			`{"message":"b","content":"eA==","branch":"main"}`, 201)
		var main struct{ Object struct{ SHA string } }
		s.Ask(t, "alice", "GET /repos/garden/shed/git/ref/heads/main", "", 200).JSON(t, &main)
		s.Ask(t, "alice", "POST /repos/garden/shed/git/refs",
			`{"ref":"refs/heads/topic","sha":"`+main.Object.SHA+`"}`, 201)
		s.Ask(t, "alice", "PUT /repos/garden/shed/contents/c.txt",
			`{"message":"c","content":"eA==","branch":"topic"}`, 201)
		s.Ask(t, "alice", "POST /repos/garden/shed/pulls", `{"title":"weed","head":"topic","base":"main"}`,
			201)
		const asked = "/repos/garden/shed/pulls/1/requested_reviewers"
		s.Ask(t, "alice", "POST "+asked, `{"team_reviewers":["weeders"]}`, 201)
		named := func(who string, want bool) {
			t.Helper()
			for _, path := range []string{"pulls/1", "pulls", "pulls/1/requested_reviewers",
				"issues/1/events", "issues/1/timeline"} {
				a := s.Ask(t, who, "GET /repos/garden/shed/"+path, "", 200)
				if strings.Contains(string(a.Body), `"weeders"`) != want {
					t.Errorf("%s as %s names the team: %v, want %v", path, who, !want, want)
				}
			}
		}
		named("max", true)
		s.Run(t, []apitest.Case{
			{Name: "suspended", Do: "PUT /users/max/suspended", As: "chief", Status: 204},
			{Do: "GET /repos/garden/shed", As: "max", Status: 403},
			{Do: "DELETE /users/max/suspended", As: "chief", Status: 204},
			{Name: "and back in the team", Do: "GET /repos/garden/shed", As: "max", Status: 200},
			{Name: "deleted", Do: "DELETE /admin/users/may", As: "chief", Status: 204},
			{Do: "GET " + atTeams + "/weeders/members", As: "max", Status: 200,
				Want: `[{"login":"alice"},{"login":"mia"},{"login":"max"}]`},
			{Name: "made public", Do: "PATCH /repos/garden/shed", As: "alice", Send: `{"private":false}`,
				Status: 200},
			{Name: "and private again", Do: "PATCH /repos/garden/shed", As: "alice", Send: `{"private":true}`,
				Status: 200},
			{Do: "GET /repos/garden/shed", As: "max", Status: 200,
				Want: `{"permissions":{"pull":true,"push":false}}`},
			{Name: "made secret", Do: "PATCH " + atTeams + "/weeders", As: "alice",
				Send: `{"privacy":"secret"}`, Status: 200},
			{Do: "GET /repos/garden/shed", As: "max", Status: 200},
		})
		named("max", false) // a secret team is named to nobody there
		named("alice", false)
		s.Ask(t, "alice", "PATCH "+atTeams+"/weeders", `{"privacy":"closed"}`, 200)
		named("max", true)
		s.Run(t, []apitest.Case{
			{Name: "the organization is renamed", Do: "PATCH /admin/organizations/garden", As: "chief",
				Send:   `{"login":"park"}`,
				Status: 202},
		})
		testkit.NoError(t, s.Server.Settle(t.Context()))
		s.Run(t, []apitest.Case{
			{Do: "GET /orgs/park/teams/weeders/repos", As: "max", Status: 200,
				Want: `[{"full_name":"park/shed"}]`},
			{Name: "the repository is deleted", Do: "DELETE /repos/park/shed", As: "alice", Status: 204},
			{Do: "GET /orgs/park/teams/weeders/repos", As: "max", Status: 200, Body: "[]"},
			{Do: "GET /orgs/park/teams/weeders", As: "max", Status: 200, Want: `{"repos_count":0}`},
			{Name: "the organization is deleted", Do: "DELETE /orgs/park", As: "alice", Status: 202},
			{Do: "GET /user/teams", As: "max", Status: 200, Body: "[]"},
			{Do: "GET /teams/1", As: "max", Status: 404},
		})
	})
}

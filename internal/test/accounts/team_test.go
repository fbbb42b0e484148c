package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// crew creates the organization garden of alice with the private repository garden/shed, where members have no role,
// and its members mia, max, may; sam is a stranger.
func crew(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "mia", "max", "may", "sam")
	s.Org(t, "garden", "alice")
	s.Repo(t, "garden/shed", true)
	for _, login := range []string{"mia", "max", "may"} {
		s.Ask(t, "alice", "PUT /orgs/garden/members/"+login, "", 204)
	}
	s.Ask(t, "alice", "PATCH /orgs/garden", `{"default_repository_permission":"none"}`, 200)
}

const atTeams = "/orgs/garden/teams"

// What GitHub's clients ask of teams, at their addresses.
func TestTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		var made struct {
			ID           int64
			Organization struct{ ID int64 }
		}
		keep := func(a *apitest.Answer) { a.JSON(t, &made) }
		s.Run(t, []apitest.Case{
			{Do: "GET " + atTeams, As: "mia", Status: 200, Body: "[]"},
			{Do: "GET " + atTeams, As: "sam", Status: 403},
			{Do: "GET " + atTeams, Status: 401},
			{Do: "POST " + atTeams, As: "mia", Send: `{"name":"Weeders"}`, Status: 403},
			{Do: "POST " + atTeams, As: "alice", Send: `{}`, Status: 422},
			{Do: "POST " + atTeams, As: "alice", Send: `{"name":"!!"}`, Status: 422},
			{Do: "POST " + atTeams, As: "alice",
				Send: `{"name":"The Wéeders!","privacy":"closed","maintainers":["mia"],
				"repo_names":["garden/shed"]}`, Status: 201, Keep: keep,
				Want: `{"name":"The Wéeders!","slug":"the-weeders","privacy":"closed","members_count":2,"repos_count":1,
					"parent":null,"organization":{"login":"garden"}}`},
			{Name: "the slug is taken", Do: "POST " + atTeams, As: "alice", Send: `{"name":"the weeders"}`,
				Status: 422},
			{Name: "a secret team cannot be nested", Do: "PATCH " + atTeams + "/the-weeders", As: "alice",
				Send: `{"privacy":"secret","parent_team_id":999}`, Status: 422},
			{Do: "GET " + atTeams + "/The-Weeders", As: "max", Status: 200, Want: `{"slug":"the-weeders"}`},
			{Do: "GET " + atTeams + "/the-weeders", As: "sam", Status: 404},
			{Do: "PUT " + atTeams + "/the-weeders/memberships/max", As: "max", Status: 403},
			{Name: "a maintainer adds members", Do: "PUT " + atTeams + "/the-weeders/memberships/max",
				As: "mia", Status: 200,
				Want: `{"role":"member","state":"active"}`},
			{Name: "nobody from outside", Do: "PUT " + atTeams + "/the-weeders/memberships/sam", As: "mia",
				Status: 422,
				Want:   `{"errors":[{"resource":"TeamMember"}]}`},
			{Do: "GET " + atTeams + "/the-weeders/members?role=maintainer", As: "max", Status: 200,
				Want: `[{"login":"alice"},{"login":"mia"}]`},
			{Do: "GET " + atTeams + "/the-weeders/members", As: "max", Status: 200,
				Want: `[{"login":"alice"},{"login":"mia"},{"login":"max"}]`},
			{Do: "GET " + atTeams + "/the-weeders/repos", As: "max", Status: 200,
				Want: `[{"full_name":"garden/shed","role_name":"read","permissions":{"pull":true,"push":false}}]`},
			{Do: "GET " + atTeams + "/the-weeders/repos/garden/shed", As: "max", Status: 204},
			{Do: "GET " + atTeams + "/the-weeders/repos/garden/shed", As: "max", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.v3.repository+json"},
				Want:    `{"name":"shed","role_name":"read"}`},
			{Do: "GET /repos/garden/shed/teams", As: "max", Status: 200,
				Want: `[{"slug":"the-weeders","permission":"pull"}]`},
			{Do: "GET /user/teams", As: "max", Status: 200,
				Want: `[{"slug":"the-weeders","members_count":3}]`},
		})
		id := fmt.Sprint("/teams/", made.ID)
		long := fmt.Sprintf("/organizations/%d/team/%d", made.Organization.ID, made.ID)
		s.Run(t, []apitest.Case{
			{Do: "GET " + id, As: "max", Status: 200, Want: `{"slug":"the-weeders"}`},
			{Do: "GET " + long, As: "max", Status: 200, Want: `{"slug":"the-weeders"}`},
			{Do: fmt.Sprintf("GET /organizations/%d/team/%d", made.Organization.ID+1, made.ID), As: "max",
				Status: 404},
			{Do: "GET " + id + "/members/max", As: "mia", Status: 204},
			{Do: "GET " + id + "/members/may", As: "mia", Status: 404},
			{Do: "PUT " + id + "/members/may", As: "mia", Status: 204},
			{Do: "DELETE " + id + "/members/may", As: "may", Status: 204},
			{Do: "PUT " + long + "/repos/garden/shed", As: "alice", Send: `{"permission":"push"}`,
				Status: 204},
			{Do: "GET /repos/garden/shed", As: "max", Status: 200, Want: `{"permissions":{"push":true}}`},
			{Do: "PATCH " + long, As: "alice", Send: `{"name":"Diggers","description":"dig"}`, Status: 200,
				Want: `{"slug":"diggers","description":"dig"}`},
			{Do: "GET " + atTeams + "/the-weeders", As: "max", Status: 404},
			{Do: "DELETE " + atTeams + "/diggers/repos/garden/shed", As: "mia", Status: 204},
			{Do: "GET /repos/garden/shed", As: "max", Status: 404},
			{Do: "DELETE " + atTeams + "/diggers", As: "mia", Status: 403},
			{Do: "DELETE " + atTeams + "/diggers", As: "alice", Status: 204},
			{Do: "GET " + id, As: "alice", Status: 404},
		})
	})
}

// A secret team is one that does not exist for everybody but its members and the owners.
func TestSecretTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		s.Ask(t, "alice", "POST "+atTeams, `{"name":"moles","maintainers":["mia"],"repo_names":["shed"]}`,
			201)
		s.Ask(t, "alice", "PATCH /orgs/garden", `{"default_repository_permission":"read"}`, 200)
		s.Run(t, []apitest.Case{
			{Do: "GET " + atTeams, As: "max", Status: 200, Body: "[]"},
			{Do: "GET " + atTeams, As: "mia", Status: 200, Want: `[{"slug":"moles","privacy":"secret"}]`},
			{Do: "GET " + atTeams + "/moles", As: "max", Status: 404},
			{Do: "GET " + atTeams + "/moles", As: "mia", Status: 200},
			{Do: "GET /repos/garden/shed/teams", As: "max", Status: 200, Body: "[]"},
			{Do: "GET /repos/garden/shed/teams", As: "mia", Status: 200, Want: `[{"slug":"moles"}]`},
			{Do: "DELETE " + atTeams + "/moles/memberships/mia", As: "mia", Status: 204},
			{Do: "GET " + atTeams + "/moles", As: "mia", Status: 404},
		})
	})
}

// teamID creates a team and returns its id.
func teamID(t *testing.T, s *apitest.Server, body string) int64 {
	t.Helper()
	var made struct{ ID int64 }
	s.Ask(t, "alice", "POST "+atTeams, body, 201).JSON(t, &made)
	return made.ID
}

// A parent is named by its slug as well as by its id, and not by both.
func TestTeamParentBySlug(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		s.Org(t, "field", "alice")
		s.Ask(t, "alice", "POST /orgs/field/teams", `{"name":"far","privacy":"closed"}`, 201)
		top := teamID(t, s, `{"name":"Top","privacy":"closed"}`)
		teamID(t, s, `{"name":"hidden","privacy":"secret"}`)
		const low = "PATCH " + atTeams + "/low"
		wrong := `{"errors":[{"field":"parent_team_slug"}]}`
		s.Run(t, []apitest.Case{
			{Do: "POST " + atTeams, As: "alice", Send: `{"name":"low","parent_team_slug":"top"}`, Status: 201,
				Want: `{"privacy":"closed","parent":{"slug":"top"}}`},
			{Do: low, As: "alice", Send: `{"parent_team_slug":null}`, Status: 200, Want: `{"parent":null}`},
			{Do: low, As: "alice", Send: `{"parent_team_slug":"TOP"}`, Status: 200,
				Want: `{"parent":{"slug":"top"}}`},
			{Name: "both", Do: low, As: "alice", Status: 422, Want: wrong,
				Send: fmt.Sprintf(`{"parent_team_slug":"top","parent_team_id":%d}`, top)},
			{Name: "null is no second parent", Do: low, As: "alice", Status: 200,
				Send: `{"parent_team_slug":"top","parent_team_id":null}`, Want: `{"parent":{"slug":"top"}}`},
			{Name: "of another organization", Do: low, As: "alice", Send: `{"parent_team_slug":"far"}`,
				Status: 422, Want: wrong},
			{Name: "empty", Do: low, As: "alice", Send: `{"parent_team_slug":""}`, Status: 422, Want: wrong},
			{Do: low, As: "alice", Send: `{"parent_team_slug":"hidden"}`, Status: 422, Want: wrong},
			{Name: "a circle", Do: "PATCH " + atTeams + "/top", As: "alice",
				Send: `{"parent_team_slug":"low"}`, Status: 422, Want: wrong},
			{Do: low, As: "mia", Send: `{"parent_team_slug":"top"}`, Status: 403},
			{Do: "GET " + atTeams + "/low", As: "max", Status: 200, Want: `{"parent":{"slug":"top"}}`},
		})
	})
}

// What somebody may do through a team, and through teams above, ends with whatever gave it.
func TestTeamRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		top := teamID(t, s, `{"name":"top","privacy":"closed"}`)
		mid := teamID(t, s, fmt.Sprintf(`{"name":"mid","parent_team_id":%d}`, top))
		low := teamID(t, s, fmt.Sprintf(`{"name":"low","parent_team_id":%d}`, mid))
		s.Ask(t, "alice", "PUT "+atTeams+"/top/repos/garden/shed", `{"permission":"push"}`, 204)
		s.Ask(t, "alice", "PUT "+atTeams+"/low/memberships/max", "", 200)
		s.Ask(t, "alice", "PUT "+atTeams+"/mid/memberships/may", "", 200)
		may := func(login string, want bool) {
			t.Helper()
			status, count := 404, 0
			if want {
				status, count = 200, 1
			}
			s.Ask(t, login, "GET /repos/garden/shed", "", status)
			s.Ask(t, login, "GET /repos/garden/shed/issues", "", status)
			for _, list := range []string{"/user/repos", "/orgs/garden/repos",
				"/user/repos?affiliation=organization_member"} {
				var found []any
				if s.Ask(t, login, "GET "+list, "", 200).JSON(t, &found); len(found) != count {
					t.Errorf("%s as %s: %d repositories, want %d", list, login, len(found), count)
				}
			}
			var found struct {
				Total int `json:"total_count"`
			}
			if s.Ask(t, login, "GET /search/repositories?q=shed", "", 200).JSON(t,
				&found); found.Total != count {
				t.Errorf("search as %s: %d repositories, want %d", login, found.Total, count)
			}
		}
		may("max", true)
		may("mia", false)
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/shed/collaborators", As: "alice", Status: 200,
				Want: `[{"login":"alice"},{"login":"max","role_name":"write"},{"login":"may","role_name":"write"}]`},
			{Do: "GET /repos/garden/shed/collaborators?affiliation=direct", As: "alice", Status: 200,
				Body: "[]"},
			{Do: "GET /repos/garden/shed/collaborators/max/permission", As: "alice", Status: 200,
				Want: `{"permission":"write"}`},
			{Do: "GET /repos/garden/shed/assignees", As: "alice", Status: 200,
				Want: `[{"login":"alice"},{"login":"max"},{"login":"may"}]`},
			{Do: "GET " + atTeams + "/low/repos", As: "max", Status: 200,
				Want: `[{"name":"shed","role_name":"write"}]`},
			{Do: "GET " + atTeams + "/top/members", As: "max", Status: 200,
				Want: `[{"login":"alice"},{"login":"max"},{"login":"may"}]`},
			{Name: "a circle", Do: "PATCH " + atTeams + "/top", As: "alice",
				Send: fmt.Sprintf(`{"parent_team_id":%d}`, low), Status: 422},
			{Name: "a parent becomes secret", Do: "PATCH " + atTeams + "/mid", As: "alice",
				Send: `{"privacy":"secret"}`, Status: 422},
			{Name: "only below", Do: "DELETE " + atTeams + "/top/memberships/max", As: "alice", Status: 404},
		})
		changes := []struct {
			do, send   string
			max, mayIs bool
		}{
			{"PATCH " + atTeams + "/low", `{"parent_team_id":null}`, false, true},
			{"PATCH " + atTeams + "/low", fmt.Sprintf(`{"parent_team_id":%d}`, top), true, true},
			{"PUT " + atTeams + "/mid/memberships/max", ``, true, true},
			{"DELETE " + atTeams + "/low/memberships/max", ``, true, true},
			{"DELETE " + atTeams + "/mid/memberships/max", ``, false, true},
			{"PUT " + atTeams + "/low/memberships/max", ``, true, true},
			{"DELETE " + atTeams + "/mid", ``, true, false},
			{"DELETE " + atTeams + "/top/repos/garden/shed", ``, false, false},
			{"PUT " + atTeams + "/top/repos/garden/shed", ``, true, false},
			{"DELETE /orgs/garden/members/max", ``, false, false},
			{"PUT /orgs/garden/members/max", ``, false, false},
			{"PUT " + atTeams + "/top/memberships/max", ``, true, false},
		}
		for _, c := range changes {
			if a := s.Do(t, apitest.Case{Do: c.do, As: "alice", Send: c.send}); a.Status >= 300 {
				t.Fatalf("%s: %d %s", c.do, a.Status, a.Body)
			}
			t.Log(c.do)
			may("max", c.max)
			may("may", c.mayIs)
			checkPeople(t, s)
		}
		s.Org(t, "field", "alice")
		s.Ask(t, "alice", "POST /repos/garden/shed/transfer", `{"new_owner":"field"}`, 202)
		s.Ask(t, "max", "GET /repos/field/shed", "", 404)
		s.Ask(t, "alice", "POST /repos/field/shed/transfer", `{"new_owner":"garden"}`, 202)
		s.Ask(t, "max", "GET /repos/garden/shed", "", 404)
	})
}

// checkPeople compares the people of teams below with those that the members say.
func checkPeople(t *testing.T, s *apitest.Server) {
	t.Helper()
	var n int64
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`WITH RECURSIVE down (top, id) AS (SELECT id, id FROM teams
				UNION ALL SELECT down.top, t.id FROM teams t JOIN down ON t.parent_id = down.id)
			SELECT (SELECT count(*) FROM team_members m WHERE NOT EXISTS (SELECT 1 FROM down
					JOIN team_members x ON x.team_id = down.id AND x.role > 1
					WHERE down.top = m.team_id AND x.user_id = m.user_id))
				+ (SELECT count(*) FROM down JOIN team_members x ON x.team_id = down.id AND x.role > 1
					WHERE NOT EXISTS (SELECT 1 FROM team_members m WHERE m.team_id = down.top AND m.user_id = x.user_id))`).
			Scan(&n)
	})
	testkit.NoError(t, err)
	if n != 0 {
		t.Errorf("%d rows of people in teams are wrong", n)
	}
}

// The best of all roles counts.
func TestBestRoleCounts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		shed := s.Access(t, "alice", "garden/shed")
		s.Grant(t, shed.Repo, "max", account.Push)
		for _, team := range []string{"one", "two"} {
			teamID(t, s, `{"name":"`+team+`","privacy":"closed"}`)
			s.Ask(t, "alice", "PUT "+atTeams+"/"+team+"/memberships/max", "", 200)
		}
		s.Ask(t, "alice", "PUT "+atTeams+"/one/repos/garden/shed", `{"permission":"pull"}`, 204)
		s.Ask(t, "max", "PATCH /repos/garden/shed", `{"description":"x"}`, 403)
		s.Ask(t, "alice", "PUT "+atTeams+"/two/repos/garden/shed", `{"permission":"admin"}`, 204)
		s.Ask(t, "max", "PATCH /repos/garden/shed", `{"description":"x"}`, 200)
		s.Ask(t, "alice", "GET /repos/garden/shed/collaborators?affiliation=direct", "", 200)
	})
}

// Teams are asked for reviews, and mentioned: their members hear of it, and nobody else learns of the team.
func TestTeamsReview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		teamID(t, s, `{"name":"weeders","privacy":"closed"}`)
		teamID(t, s, `{"name":"moles"}`)
		teamID(t, s, `{"name":"idle","privacy":"closed"}`)
		s.Repo(t, "garden/plot", false)
		for _, team := range []string{"weeders", "moles"} {
			s.Ask(t, "alice", "PUT "+atTeams+"/"+team+"/memberships/max", "", 200)
			s.Ask(t, "alice", "PUT "+atTeams+"/"+team+"/repos/garden/plot", `{"permission":"push"}`, 204)
		}
		s.Ask(t, "alice", "PUT /repos/garden/plot/contents/a.txt", `{"message":"a","content":"eA=="}`, 201)
		s.Ask(t, "alice", "PUT /repos/garden/plot/contents/b.txt",
			`{"message":"b","content":"eA==","branch":"main"}`, 201)
		var main struct{ Object struct{ SHA string } }
		s.Ask(t, "alice", "GET /repos/garden/plot/git/ref/heads/main", "", 200).JSON(t, &main)
		s.Ask(t, "alice", "POST /repos/garden/plot/git/refs",
			`{"ref":"refs/heads/topic","sha":"`+main.Object.SHA+`"}`, 201)
		s.Ask(t, "alice", "PUT /repos/garden/plot/contents/c.txt",
			`{"message":"c","content":"eA==","branch":"topic"}`, 201)
		s.Ask(t, "alice", "POST /repos/garden/plot/pulls", `{"title":"weed","head":"topic","base":"main"}`,
			201)
		const at = "/repos/garden/plot/pulls/1/requested_reviewers"
		s.Run(t, []apitest.Case{
			{Name: "a secret team", Do: "POST " + at, As: "alice", Send: `{"team_reviewers":["moles"]}`,
				Status: 422},
			{Name: "a team without access", Do: "POST " + at, As: "alice",
				Send: `{"team_reviewers":["idle"]}`, Status: 422},
			{Name: "no team", Do: "POST " + at, As: "alice", Send: `{"team_reviewers":["none"]}`,
				Status: 422},
			{Do: "POST " + at, As: "alice", Send: `{"team_reviewers":["weeders"]}`, Status: 201,
				Want: `{"requested_teams":[{"slug":"weeders"}],"requested_reviewers":[]}`},
			{Do: "GET " + at, As: "mia", Status: 200, Want: `{"teams":[{"slug":"weeders"}]}`},
			{Do: "GET " + at, As: "sam", Status: 200, Want: `{"teams":[]}`},
			{Do: "GET /repos/garden/plot/pulls/1", As: "sam", Status: 200, Want: `{"requested_teams":[]}`},
			{Do: "GET /repos/garden/plot/issues/1/events", As: "mia", Status: 200,
				Want: `[{"event":"review_requested","requested_team":{"slug":"weeders"}}]`},
			{Do: "POST /repos/garden/plot/issues/1/comments", As: "alice",
				Send: `{"body":"@garden/weeders, @garden/moles/ and @field/weeders: look"}`, Status: 201},
		})
		for _, who := range []string{"sam", ""} {
			for _, path := range []string{"issues/1/events", "issues/1/timeline", "issues/events", "pulls",
				"pulls/1"} {
				if a := s.Ask(t, who, "GET /repos/garden/plot/"+path, "",
					200); strings.Contains(string(a.Body), `"slug":"weeders"`) {
					t.Errorf("%s as %q names the team: %s", path, who, a.Body)
				}
			}
		}
		s.Settle(t)
		reason := func(who, want string) {
			t.Helper()
			testkit.NoError(t, s.Server.Settle(t.Context()))
			s.Check(t, apitest.Case{Do: "GET /notifications", As: who, Status: 200, Want: want})
		}
		reason("max", `[{"reason":"team_mention","subject":{"title":"weed"}}]`)
		reason("mia", `[]`)
		s.Visit(t, "mia", "GET /garden/plot/pull/1")
		s.Ask(t, "max", "POST /repos/garden/plot/pulls/1/reviews", `{"event":"APPROVE"}`, 200)
		s.Ask(t, "mia", "GET "+at, "", 200)
		s.Check(t, apitest.Case{Do: "GET " + at, As: "mia", Status: 200, Want: `{"teams":[]}`})
	})
}

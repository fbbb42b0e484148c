package repos_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/test/apitest"
)

// seq makes names of files unique.
var seq atomic.Int64

const atPlot = "/repos/garden/plot/branches/main/protection"

// crews creates the organization garden of alice with garden/plot, in which everybody may push. Of its teams, ops is
// secret, and deep is below core: ann is in core, dee in deep, oz in ops, and pat in none. robot is an App that may
// write contents.
func crews(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "ann", "dee", "oz", "pat", "keeper", "zoe")
	s.Org(t, "garden", "alice")
	s.Org(t, "meadow", "zoe")
	s.Repo(t, "garden/plot", false)
	for _, login := range []string{"ann", "dee", "oz", "pat", "keeper"} {
		s.Ask(t, "alice", "PUT /orgs/garden/members/"+login, "", 204)
		s.Ask(t, "alice", "PUT /repos/garden/plot/collaborators/"+login, `{"permission": "push"}`, 204)
	}
	s.Ask(t, "alice", "PUT /repos/garden/plot/collaborators/keeper", `{"permission": "admin"}`, 204)
	var core struct{ ID int64 }
	s.Ask(t, "alice", "POST /orgs/garden/teams", `{"name": "core", "privacy": "closed"}`, 201).JSON(t, &core)
	s.Ask(t, "alice", "POST /orgs/garden/teams", fmt.Sprintf(`{"name": "deep", "privacy": "closed",
		"parent_team_id": %d}`, core.ID), 201)
	s.Ask(t, "alice", "POST /orgs/garden/teams", `{"name": "ops", "privacy": "secret"}`, 201)
	s.Ask(t, "zoe", "POST /orgs/meadow/teams", `{"name": "far", "privacy": "closed"}`, 201)
	for team, login := range map[string]string{"core": "ann", "deep": "dee", "ops": "oz"} {
		s.Ask(t, "alice", "PUT /orgs/garden/teams/"+team+"/memberships/"+login, "", 200)
		s.Ask(t, "alice", "DELETE /orgs/garden/teams/"+team+"/memberships/alice", "", 204)
	}
	s.Bot(t, "robot", "garden", "contents=write")
	s.Ask(t, "alice", "PUT /repos/garden/plot/contents/a.txt", `{"message": "one", "content": "MQo="}`, 201)
}

// written asks that people may, or may not, write a file to main.
func written(t *testing.T, s *apitest.Server, status int, logins ...string) {
	t.Helper()
	for _, login := range logins {
		s.Check(t, apitest.Case{Name: login, Do: "PUT /repos/garden/plot/contents/" + t.Name() + login +
			fmt.Sprint(seq.Add(1)),
			As: login, Send: `{"message": "m", "content": "Mg=="}`, Status: status})
	}
}

// Teams and Apps that may push are those that a protection names, with the members they have then.
func TestTeamsAndAppsMayPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crews(t, s)
		put := func(restrictions string) string {
			return `{"required_status_checks": null, "enforce_admins": true, "required_pull_request_reviews": null,
				"restrictions": ` + restrictions + `}`
		}
		s.Run(t, []apitest.Case{
			{Name: "unknown team", Do: "PUT " + atPlot, As: "alice", Status: 422,
				Send: put(`{"users": [], "teams": ["none"]}`)},
			{Name: "of another organization", Do: "PUT " + atPlot, As: "alice", Status: 422,
				Send: put(`{"users": [], "teams": ["far"]}`)},
			{Name: "unknown App", Do: "PUT " + atPlot, As: "alice", Status: 422,
				Send: put(`{"users": [], "apps": ["none"]}`)},
			{Name: "a secret team of others", Do: "PUT " + atPlot, As: "keeper", Status: 422,
				Send: put(`{"users": [], "teams": ["ops"]}`)},
			{Do: "PUT " + atPlot, As: "alice", Status: 200,
				Send: put(`{"users": [], "teams": ["Core"], "apps": ["robot"]}`),
				Want: `{"restrictions": {"users": [], "teams": [{"slug": "core"}], "apps": [{"slug": "robot"}]}}`},
		})
		written(t, s, 201, "ann", "dee", "robot[bot]")
		written(t, s, 409, "oz", "pat", "alice")
		s.Run(t, []apitest.Case{
			{Do: "POST " + atPlot + "/restrictions/teams", As: "alice", Status: 200, Send: `["ops"]`,
				Want: `[{"slug": "core"}, {"slug": "ops"}]`},
			{Name: "secret", Do: "GET " + atPlot + "/restrictions/teams", As: "keeper", Status: 200,
				Want: `[{"slug": "core"}]`},
			{Do: "DELETE " + atPlot + "/restrictions/teams", As: "alice", Status: 200, Send: `{"teams": ["core"]}`,
				Want: `[{"slug": "ops"}]`},
			{Do: "PUT " + atPlot + "/restrictions/apps", As: "alice", Status: 200, Send: `[]`, Body: `[]`},
		})
		written(t, s, 201, "oz")
		written(t, s, 409, "ann", "dee", "robot[bot]")
		s.Run(t, []apitest.Case{
			{Do: "PUT " + atPlot + "/restrictions/teams", As: "keeper", Status: 200, Send: `["deep"]`,
				Want: `[{"slug": "deep"}]`},
			{Do: "POST " + atPlot + "/restrictions/apps", As: "keeper", Status: 200, Send: `["robot"]`,
				Want: `[{"slug": "robot"}]`},
			{Do: "DELETE " + atPlot + "/restrictions/apps", As: "keeper", Status: 200, Send: `["robot"]`, Body: `[]`},
			{Do: "GET " + atPlot + "/restrictions/apps", As: "keeper", Status: 200, Body: `[]`},
		})
		written(t, s, 201, "dee")
		written(t, s, 409, "ann")
		s.Ask(t, "alice", "PUT /orgs/garden/teams/deep/memberships/pat", "", 200)
		written(t, s, 201, "pat")
		s.Ask(t, "alice", "DELETE /orgs/garden/teams/deep/memberships/dee", "", 204)
		written(t, s, 409, "dee")

		s.Ask(t, "alice", "DELETE /orgs/garden/teams/deep", "", 204)
		written(t, s, 409, "pat", "alice")
		s.Check(t, apitest.Case{Name: "a deleted team", Do: "GET " + atPlot + "/restrictions", As: "keeper",
			Status: 200,
			Want:   `{"teams": []}`})
		s.Ask(t, "keeper", "DELETE "+atPlot+"/restrictions", "", 204)
		written(t, s, 201, "pat", "dee")
	})
}

// A repository that is handed over leaves the teams that its protections name.
func TestTeamsOfAnotherOwnerMayNotPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crews(t, s)
		s.Ask(t, "alice", "PUT "+atPlot, `{"required_status_checks": null, "enforce_admins": true,
			"required_pull_request_reviews": null, "restrictions": {"users": [], "teams": ["core"]}}`, 200)
		written(t, s, 201, "ann")
		s.Ask(t, "zoe", "PUT /orgs/meadow/memberships/alice", `{"role": "admin"}`, 200)
		s.Ask(t, "alice", "POST /repos/garden/plot/transfer", `{"new_owner": "meadow"}`, 202)
		s.Ask(t, "alice", "PUT /repos/meadow/plot/collaborators/ann", `{"permission": "push"}`, 204)
		s.Check(t, apitest.Case{Do: "PUT /repos/meadow/plot/contents/b", As: "ann", Status: 409,
			Send: `{"message": "m", "content": "Mg=="}`})
		s.Check(t, apitest.Case{Do: "GET /repos/meadow/plot/branches/main/protection/restrictions/teams", As: "alice",
			Status: 200, Body: `[]`})
	})
}

// Teams and Apps bypass required pull requests and rulesets that name them.
func TestTeamsBypass(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crews(t, s)
		s.Check(t, apitest.Case{Do: "PUT " + atPlot, As: "alice", Status: 200,
			Send: `{"required_status_checks": null, "enforce_admins": true, "restrictions": null, "required_pull_request_reviews":
				{"bypass_pull_request_allowances": {"users": ["pat"], "teams": ["core"], "apps": ["robot"]}}}`,
			Want: `{"required_pull_request_reviews": {"bypass_pull_request_allowances": {"users": [{"login": "pat"}],
				"teams": [{"slug": "core"}], "apps": [{"slug": "robot"}]}}}`})
		written(t, s, 201, "pat", "ann", "dee", "robot[bot]")
		written(t, s, 409, "oz", "alice")
		s.Ask(t, "alice", "DELETE "+atPlot, "", 204)

		var core, ops, far, set struct{ ID int64 }
		s.Ask(t, "alice", "GET /orgs/garden/teams/core", "", 200).JSON(t, &core)
		s.Ask(t, "alice", "GET /orgs/garden/teams/ops", "", 200).JSON(t, &ops)
		s.Ask(t, "zoe", "GET /orgs/meadow/teams/far", "", 200).JSON(t, &far)
		body := func(id int64) string {
			return fmt.Sprintf(`{"name": "still", "enforcement": "active", "rules": [{"type": "update"}],
				"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}},
				"bypass_actors": [{"actor_id": %d, "actor_type": "Team", "bypass_mode": "always"}]}`, id)
		}
		s.Run(t, []apitest.Case{
			{Name: "of another organization", Do: "POST /repos/garden/plot/rulesets", As: "alice",
				Send: body(far.ID), Status: 422},
			{Name: "secret", Do: "POST /repos/garden/plot/rulesets", As: "keeper", Send: body(ops.ID), Status: 422},
			{Do: "POST /repos/garden/plot/rulesets", As: "alice", Send: body(ops.ID), Status: 201,
				Keep: func(a *apitest.Answer) { a.JSON(t, &set) }},
		})
		// The team stays for those who do not see it.
		s.Ask(t, "keeper", fmt.Sprint("PUT /repos/garden/plot/rulesets/", set.ID), body(ops.ID), 200)
		written(t, s, 201, "oz")
		written(t, s, 409, "ann", "alice")
		s.Ask(t, "alice", fmt.Sprint("DELETE /repos/garden/plot/rulesets/", set.ID), "", 204)
		s.Check(t, apitest.Case{Name: "of the organization", Do: "POST /orgs/garden/rulesets", As: "alice",
			Send:   body(far.ID),
			Status: 422})
		s.Ask(t, "alice", "POST /orgs/garden/rulesets", body(core.ID), 201)
		written(t, s, 201, "ann", "dee")
		written(t, s, 409, "oz", "alice")
	})
}

// Only those whom a protection names may dismiss reviews, and administrators.
func TestWhoMayDismissReviews(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crews(t, s)
		reviews := atPlot + "/required_pull_request_reviews"
		s.Ask(t, "alice", "PUT "+atPlot, `{"required_status_checks": null, "enforce_admins": true, "restrictions": null,
			"required_pull_request_reviews": {"dismissal_restrictions": {"users": ["oz"], "teams": ["core"]}}}`, 200)
		s.Check(t, apitest.Case{Do: "GET " + reviews, As: "alice", Status: 200, Want: `{"dismissal_restrictions":
			{"url": "{base}` + reviews[:len(reviews)-len("/required_pull_request_reviews")] + `/dismissal_restrictions",
			"users": [{"login": "oz"}], "teams": [{"slug": "core"}], "apps": []}}`})
		s.Ask(t, "pat", "PUT /repos/garden/plot/contents/b",
			`{"message": "m", "content": "Mg==", "branch": "main"}`, 409)
		var tip struct{ Object struct{ SHA string } }
		s.Ask(t, "pat", "GET /repos/garden/plot/git/ref/heads/main", "", 200).JSON(t, &tip)
		s.Ask(t, "pat", "POST /repos/garden/plot/git/refs",
			`{"ref": "refs/heads/side", "sha": "`+tip.Object.SHA+`"}`, 201)
		s.Ask(t, "pat", "PUT /repos/garden/plot/contents/b",
			`{"message": "m", "content": "Mg==", "branch": "side"}`, 201)
		s.Ask(t, "pat", "POST /repos/garden/plot/pulls", `{"title": "t", "head": "side", "base": "main"}`, 201)
		dismiss := func(as string, status int) {
			t.Helper()
			var made struct{ ID int64 }
			s.Ask(t, "keeper", "POST /repos/garden/plot/pulls/1/reviews", `{"event": "APPROVE"}`, 200).JSON(t, &made)
			s.Check(t, apitest.Case{Name: as, Do: fmt.Sprint("PUT /repos/garden/plot/pulls/1/reviews/",
				made.ID, "/dismissals"),
				As: as, Send: `{"message": "no"}`, Status: status})
		}
		dismiss("pat", 403)
		dismiss("oz", 200)
		dismiss("ann", 200)
		dismiss("dee", 200)
		dismiss("keeper", 200)
		s.Ask(t, "alice", "PATCH "+reviews, `{"dismissal_restrictions": {"users": [], "teams": []}}`, 200)
		dismiss("oz", 403)
		s.Check(t, apitest.Case{Do: "PATCH " + reviews, As: "alice", Status: 200,
			Send: `{"dismissal_restrictions": {}}`,
			Want: `{"dismissal_restrictions": "$absent"}`})
		dismiss("pat", 200)
	})
}

// Those whom a protection names may force-push where others may not, as Terraform sets it; the team's members count
// as they are. REST cannot name them, and leaves them as they are.
func TestWhoMayForcePush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crews(t, s)
		first := s.Tip(t, "alice", "garden/plot", "main")
		var core, plot struct {
			ID string `json:"node_id"`
		}
		s.Ask(t, "alice", "GET /orgs/garden/teams/core", "", 200).JSON(t, &core)
		s.Ask(t, "alice", "GET /repos/garden/plot", "", 200).JSON(t, &plot)
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Status: 200, Send: strings.Join(strings.Fields(fmt.Sprintf(`{"query": "mutation {
			createBranchProtectionRule(input: {repositoryId: \"%s\", pattern: \"main\", isAdminEnforced: true,
			bypassForcePushActorIds: [\"%s\"]}) {branchProtectionRule {allowsForcePushes bypassForcePushAllowances(first: 5)
			{nodes {actor {... on Team {slug}}}}}}}"}`, plot.ID, core.ID)), " "),
			Want: `{"data": {"createBranchProtectionRule": {"branchProtectionRule": {"allowsForcePushes": false,
				"bypassForcePushAllowances": {"nodes": [{"actor": {"slug": "core"}}]}}}}}`})
		back := func(as string, status int) {
			t.Helper()
			written(t, s, 201, "alice")
			s.Check(t, apitest.Case{Name: as, Do: "PATCH /repos/garden/plot/git/refs/heads/main", As: as,
				Status: status,
				Send:   `{"sha": "` + first + `", "force": true}`})
		}
		back("pat", 422)
		back("alice", 422)
		back("ann", 200)
		back("dee", 200) // in the team below
		s.Ask(t, "alice", "PUT "+atPlot, `{"required_status_checks": null, "enforce_admins": true,
			"required_pull_request_reviews": null, "restrictions": null}`, 200)
		back("ann", 200)
		s.Ask(t, "alice", "DELETE /orgs/garden/teams/core/memberships/ann", "", 204)
		back("ann", 422)
		s.Ask(t, "alice", "POST /repos/garden/plot/rulesets", `{"name": "x", "enforcement": "active",
			"rules": [{"type": "bypass_force_push_allowances"}]}`, 422)
	})
}

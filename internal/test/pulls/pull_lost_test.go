package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// held are the logins and slugs that an issue and a pull request name: assignees, and requested reviewers and teams.
func held(
	t *testing.T, s *apitest.Server, as, name string, issueNumber, pullNumber int64,
) (assigned, asked string) {
	t.Helper()
	type named struct{ Login, Slug string }
	var of struct {
		Assignees []named
		Reviewers []named `json:"requested_reviewers"`
		Teams     []named `json:"requested_teams"`
	}
	for _, path := range []string{fmt.Sprint("/issues/", issueNumber), fmt.Sprint("/pulls/", pullNumber)} {
		s.Check(t, apitest.Case{Do: "GET /repos/" + name + path, As: as, Status: 200, Headers: fixture.Graduated}).
			JSON(t, &of)
		if assigned == "" {
			assigned = "," // of the issue alone
			for _, a := range of.Assignees {
				assigned += a.Login + ","
			}
		}
	}
	for _, a := range append(of.Reviewers, of.Teams...) {
		asked += a.Login + a.Slug + ","
	}
	return strings.Trim(assigned, ","), strings.TrimSuffix(asked, ",")
}

// consistent checks the index of all issues.
func consistent(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
		wrong, _, _, err := issue.CheckPostings(tx, 0, 1000)
		for _, w := range wrong {
			t.Errorf("issue %d: %s", w.Issue.Number, w.Problem)
		}
		return err
	}))
}

// Whoever loses sight of a repository is neither assigned to its issues nor asked for reviews in it any more.
func TestLossesUnassign(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		n := 0
		for name, loss := range losses {
			n++
			repository := fmt.Sprintf("plot%d", n)
			t.Run(name, func(t *testing.T) {
				c := loss(t, s, repository)
				var made struct{ Number int64 }
				s.Ask(t, "chief", "PATCH /repos/"+c.source, `{"has_issues":true}`, 200)
				s.Ask(t, c.reader, "POST /repos/"+c.source+"/issues", `{"title":"mine"}`, 201).JSON(t, &made)
				issueNumber := made.Number
				s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /repos/%s/issues/%d/assignees", c.source, issueNumber),
					As: "chief", Send: `{"assignees":["` + c.reader + `"]}`, Status: 201})
				pull := propose(t, s, "chief", c.source, "side", "main").Number
				s.Ask(t, "chief", fmt.Sprintf("POST /repos/%s/pulls/%d/requested_reviewers", c.source, pull),
					`{"reviewers":["`+c.reader+`"]}`, 201)
				c.lose()
				want := ""
				// A withdrawn fork may come back. What was written to the store directly is not noticed.
				if c.sees || c.unnoticed || name == "the head's owner is removed" {
					want = c.reader
				}
				assigned, asked := held(t, s, "chief", c.source, issueNumber, pull)
				if assigned != want || asked != want {
					t.Errorf("%q is assigned and %q asked; want %q", assigned, asked, want)
				}
			})
		}
		consistent(t, s)
	})
}

// departures are the ways on which mia loses access to the repository ORG/shed, what is left of the assignees (mia and
// alice) and of those who were asked (mia and the team weeders), and who did it.
var departures = []struct {
	name            string
	public          bool
	before          []string // "who|request|body"
	lose            string
	assigned, asked string
	by              string
}{
	{"the team loses the member", false, nil,
		"alice|DELETE /orgs/ORG/teams/weeders/memberships/mia", "alice", "weeders", "alice"},
	{"she leaves the team", false, nil,
		"mia|DELETE /orgs/ORG/teams/weeders/memberships/mia", "alice", "weeders", "mia"},
	{"the team loses the repository", false, nil,
		"alice|DELETE /orgs/ORG/teams/weeders/repos/ORG/shed", "alice", "", "alice"},
	{"the team is deleted", false, nil,
		"alice|DELETE /orgs/ORG/teams/weeders", "alice", "", "alice"},
	{"the team has less", false, nil,
		`alice|PUT /orgs/ORG/teams/weeders/repos/ORG/shed|{"permission":"pull"}`, "alice,mia", "mia,weeders", ""},
	{"the team above loses the repository", false, []string{
		`alice|POST /orgs/ORG/teams|{"name":"all","privacy":"closed","repo_names":["shed"]}`,
		`alice|PUT /orgs/ORG/teams/all/repos/ORG/shed|{"permission":"push"}`,
		`alice|PATCH /orgs/ORG/teams/weeders|{"parent_team_id":TEAM}`,
		`alice|DELETE /orgs/ORG/teams/weeders/repos/ORG/shed`,
	}, "alice|DELETE /orgs/ORG/teams/all/repos/ORG/shed", "alice", "", "alice"},
	{"the membership ends", false, nil,
		"alice|DELETE /orgs/ORG/members/mia", "alice", "weeders", "alice"},
	{"she leaves", false, nil,
		"mia|DELETE /orgs/ORG/memberships/mia", "alice", "weeders", "mia"},
	{"the membership in a public repository ends", true, nil,
		"alice|DELETE /orgs/ORG/members/mia", "alice", "mia,weeders", "alice"},
	{"an owner becomes a member", false, []string{
		`alice|PUT /orgs/ORG/memberships/mia|{"role":"admin"}`, `alice|DELETE /orgs/ORG/teams/weeders/memberships/mia`,
	}, `alice|PUT /orgs/ORG/memberships/mia|{"role":"member"}`, "alice", "weeders", "alice"},
	{"members may read nothing by default", false, []string{
		`alice|PATCH /orgs/ORG|{"default_repository_permission":"read"}`, `alice|DELETE /orgs/ORG/teams/weeders/memberships/mia`,
	}, `alice|PATCH /orgs/ORG|{"default_repository_permission":"none"}`, "alice", "weeders", "alice"},
	{"she becomes an outside collaborator", false, nil,
		"alice|PUT /orgs/ORG/outside_collaborators/mia", "alice,mia", "mia,weeders", ""},
	{"an outside collaborator is removed", false, []string{"alice|PUT /orgs/ORG/outside_collaborators/mia"},
		"alice|DELETE /orgs/ORG/outside_collaborators/mia", "alice", "weeders", "alice"},
	{"a site administrator is one no more", false, []string{
		"chief|PUT /users/mia/site_admin", `alice|DELETE /orgs/ORG/teams/weeders/memberships/mia`,
	}, "chief|DELETE /users/mia/site_admin", "alice", "weeders", "chief"},
	{"a public repository is hidden", true, []string{`alice|DELETE /orgs/ORG/teams/weeders/memberships/mia`},
		`alice|PATCH /repos/ORG/shed|{"private":true}`, "alice", "weeders", "alice"},
	{"it is transferred", false, nil,
		`alice|POST /repos/ORG/shed/transfer|{"new_owner":"alice"}`, "alice", "", "alice"},
}

// Each way to lose access in an organization ends assignments and review requests at once, and records events.
func TestLostAccess(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "mia")
		s.Admin(t, "chief")
		for n, d := range departures {
			t.Run(d.name, func(t *testing.T) {
				org := fmt.Sprint("org", n)
				issueNumber, pull, team := leaving(t, s, org, !d.public)
				do := func(text string) {
					t.Helper()
					text = strings.ReplaceAll(text, "ORG", org)
					who, rest, _ := strings.Cut(text, "|")
					request, body, _ := strings.Cut(rest, "|")
					body = strings.ReplaceAll(body, "TEAM", fmt.Sprint(team+1)) // the team made next
					if a := s.Do(t, apitest.Case{Do: request, As: who, Send: body}); a.Status >= 300 {
						t.Fatalf("%s: %d %s", text, a.Status, a.Body)
					}
				}
				for _, b := range d.before {
					do(b)
				}
				name := org + "/shed"
				assigned, asked := held(t, s, "chief", name, issueNumber, pull)
				if assigned != "alice,mia" || asked != "mia,weeders" {
					t.Fatalf("before: %q, %q", assigned, asked)
				}
				do(d.lose)
				s.Settle(t)
				if strings.Contains(d.lose, "transfer") {
					name = "alice/shed"
				}
				assigned, asked = held(t, s, "chief", name, issueNumber, pull)
				if assigned != d.assigned || asked != d.asked {
					t.Errorf("assigned %q, asked %q; want %q, %q", assigned, asked, d.assigned, d.asked)
				}
				if d.by != "" {
					s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/%s/issues/%d/events", name, issueNumber), As: "chief",
						Status: 200, Want: `[{}, {}, {"event":"unassigned","actor":{"login":"` + d.by + `"},"assignee":{"login":"mia"}}]`})
				}
			})
		}
		consistent(t, s)
	})
}

// leaving creates an organization whose team weeders, with mia, may push to its repository shed. mia and alice are
// assigned to an issue, and mia and the team asked for a review.
func leaving(t *testing.T, s *apitest.Server, org string, private bool) (issueNumber, pull, team int64) {
	t.Helper()
	s.Org(t, org, "alice")
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	w.commit("side", "side", "main", "", one("b", "b\n"))
	w.plant(t, s, org+"/shed", private)
	s.Ask(t, "alice", "PUT /orgs/"+org+"/members/mia", "", 204)
	s.Ask(t, "alice", "PATCH /orgs/"+org, `{"default_repository_permission":"none"}`, 200)
	var made struct{ ID, Number int64 }
	s.Ask(t, "alice", "POST /orgs/"+org+"/teams", `{"name":"weeders","privacy":"closed","repo_names":["shed"]}`, 201).
		JSON(t, &made)
	s.Ask(t, "alice", "PUT /orgs/"+org+"/teams/weeders/repos/"+org+"/shed", `{"permission":"push"}`, 204)
	s.Ask(t, "alice", "PUT /orgs/"+org+"/teams/weeders/memberships/mia", "", 200)
	s.Check(t, apitest.Case{Do: "POST /repos/" + org + "/shed/issues", As: "alice", Status: 201,
		Send: `{"title":"dig","assignees":["alice","mia"]}`, Headers: fixture.Graduated}).JSON(t, &made)
	issueNumber = made.Number
	s.Ask(t, "alice", "GET /orgs/"+org+"/teams/weeders", "", 200).JSON(t, &made)
	team = made.ID
	pull = propose(t, s, "alice", org+"/shed", "side", "main").Number
	s.Ask(t, "alice", fmt.Sprintf("POST /repos/%s/shed/pulls/%d/requested_reviewers", org, pull),
		`{"reviewers":["mia"],"team_reviewers":["weeders"]}`, 201)
	return issueNumber, pull, team
}

// A hundred assignments more ask no statement more.
func TestLostAccessStatements(t *testing.T) {
	t.Parallel()
	s, statements := apitest.StartCounted(t, db.SQLite)
	s.Users(t, "alice", "mia")
	r := s.Repo(t, "alice/shed", true)
	cost := func(issues int) int64 {
		t.Helper()
		s.Grant(t, r, "mia", account.Push)
		for range issues {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/shed/issues", As: "alice", Status: 201,
				Send: `{"title":"dig","assignees":["mia"]}`, Headers: fixture.Graduated})
		}
		s.Settle(t)
		before := statements.Load()
		s.Ask(t, "alice", "DELETE /repos/alice/shed/collaborators/mia", "", 204)
		after := statements.Load()
		s.Ask(t, "alice", "GET /repos/alice/shed/issues?assignee=mia", "", 200)
		var left []struct{ Number int64 }
		s.Ask(t, "alice", "GET /repos/alice/shed/issues?assignee=none&per_page=100", "", 200).JSON(t, &left)
		if len(left) < min(issues, 100) {
			t.Errorf("%d issues without an assignee", len(left))
		}
		return after - before
	}
	few, many := cost(2), cost(100)
	if many > few+4 || many > 120 { // SQLite runs each transaction of tests twice
		t.Errorf("%d statements for 100 issues, %d for 2", many, few)
	}
	consistent(t, s)
}

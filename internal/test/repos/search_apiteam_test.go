package repos_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// A review that a team is asked for is found by the team's name, and by everybody in it, also in a team below. What a
// search tells about teams, it tells to those who see them.
func TestSearchRequestsOfTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		s.Users(t, "erin", "fred")
		garden := s.Access(t, "alice", "alice/garden").Repo
		s.Ask(t, "alice", "POST /repos/alice/garden/transfer", `{"new_owner": "guild"}`, 202)
		const at = "/repos/guild/garden"
		for _, login := range []string{"bob", "erin", "fred"} {
			s.Ask(t, "alice", "PUT /orgs/guild/memberships/"+login, `{"role": "member"}`, 200)
		}
		var top struct{ ID int64 }
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "wardens", "privacy": "closed"}`, 201).JSON(t, &top)
		below, _ := json.Marshal(map[string]any{"name": "night", "privacy": "closed", "parent_team_id": top.ID})
		s.Ask(t, "alice", "POST /orgs/guild/teams", string(below), 201)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/wardens/memberships/bob", "", 200)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/night/memberships/erin", "", 200)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/wardens"+at, `{"permission": "push"}`, 204)
		s.Grant(t, garden, "bob", account.Push)

		var root struct{ Commit struct{ SHA string } }
		file := func(branch string) *apitest.Answer {
			return s.Ask(t, "alice", "PUT "+at+"/contents/"+branch,
				`{"message": "m", "content": "eA==", "branch": "`+branch+`"}`, 201)
		}
		file("main").JSON(t, &root)
		for n, ask := range []string{`{"reviewers": ["bob"]}`, `{"team_reviewers": ["wardens"]}`} {
			branch := []string{"p", "q"}[n]
			s.Ask(t, "alice", "POST "+at+"/git/refs",
				`{"ref": "refs/heads/`+branch+`", "sha": "`+root.Commit.SHA+`"}`, 201)
			file(branch)
			var made struct{ Number json.Number }
			s.Ask(t, "alice", "POST "+at+"/pulls", `{"title": "`+branch+`", "head": "`+branch+`", "base": "main"}`,
				201).JSON(t, &made)
			s.Ask(t, "alice", "POST "+at+"/pulls/"+made.Number.String()+"/requested_reviewers", ask, 201)
		}

		const user, team = "guild/garden#6", "guild/garden#7"
		for _, f := range []find{
			{q: "review-requested:bob", as: "bob", want: team + " " + user},
			{q: "review-requested:bob", as: "fred", want: team + " " + user},
			{q: "review-requested:bob", as: "carol", want: user}, // who is in no team of guild
			{q: "review-requested:bob", want: user},
			{q: "review-requested:@me", as: "erin", want: team},
			{q: "is:pr repo:guild/garden -review-requested:erin", as: "fred", want: user},
			{q: "user-review-requested:@me", as: "bob", want: user},
			{q: "user-review-requested:@me", as: "erin"},
			{q: "team-review-requested:guild/wardens", as: "fred", want: team},
			{q: "team-review-requested:Guild/WARDENS is:open", as: "alice", want: team},
			{q: "team-review-requested:guild/night", as: "fred"},
			{q: "repo:guild/garden is:pr -team-review-requested:guild/wardens", as: "bob", want: user},
			{q: "repo:guild/garden is:pr -team-review-requested:guild/wardens", want: team + " " + user},
			{q: "team-review-requested:guild/wardens OR user-review-requested:bob", as: "bob", want: team + " " + user},
		} {
			f.check(t, s)
		}
		const named = "GET /search/issues?q=team-review-requested:"
		blind := s.Scoped(t, "erin", "repo")
		s.Run(t, []apitest.Case{
			{Do: named + "guild/wardens", As: "carol", Status: 422},
			{Do: named + "guild/wardens", Status: 422},
			{Do: named + "guild/nobody-here", As: "bob", Status: 422},
			{Do: named + "wardens", As: "bob", Status: 422},
			{Name: "a token that hides memberships", Do: named + "guild/wardens", Status: 422,
				Headers: map[string]string{"Authorization": "token " + blind}},
			{Name: "a token that hides memberships", Do: "GET /search/issues?q=review-requested:erin", Status: 200,
				Want: `{"total_count": 0}`, Headers: map[string]string{"Authorization": "token " + blind}},
			{Name: "GraphQL", Do: "POST /graphql", As: "bob", Status: 200,
				Send: `{"query": "{search(type: ISSUE, first: 5, query: \"team-review-requested:guild/wardens\") {nodes {...on PullRequest {number}}}}"}`,
				Want: `{"data": {"search": {"nodes": [{"number": 7}]}}}`},
		})

		s.Ask(t, "alice", "DELETE /orgs/guild/teams/night", "", 204)
		find{q: "review-requested:erin", as: "erin"}.check(t, s)
		s.Ask(t, "alice", "PATCH /orgs/guild/teams/wardens", `{"privacy": "secret"}`, 200)
		find{q: "review-requested:bob", as: "bob", want: user}.check(t, s)
		find{q: "team-review-requested:guild/wardens", as: "bob"}.check(t, s)
		s.Check(t, apitest.Case{Do: named + "guild/wardens", As: "fred", Status: 422})
	})
}

// What mentions a team is found by the team's name, by those who see the team and the issue, until the team is gone.
func TestSearchMentionsOfTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "mia", "max", "sam")
		s.Org(t, "guild", "alice")
		for _, login := range []string{"mia", "max"} {
			s.Ask(t, "alice", "PUT /orgs/guild/members/"+login, "", 204)
		}
		s.Repo(t, "guild/open", false)
		s.Repo(t, "guild/secret", true)
		s.Repo(t, "alice/own", false)
		s.Ask(t, "alice", "PATCH /orgs/guild", `{"default_repository_permission": "none"}`, 200)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "wardens", "privacy": "closed", "maintainers": ["mia"]}`, 201)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "moles", "maintainers": ["mia"]}`, 201)
		s.Ask(t, "alice", "POST /repos/guild/open/issues", `{"title": "a", "body": "@guild/wardens and @guild/moles"}`, 201)
		s.Ask(t, "alice", "POST /repos/guild/open/issues", `{"title": "b", "body": "guild/wardens"}`, 201)
		s.Ask(t, "alice", "POST /repos/guild/open/issues/2/comments", `{"body": "@guild/Wardens!"}`, 201)
		s.Ask(t, "alice", "POST /repos/guild/open/issues/2/comments", `{"body": "once more, @guild/wardens"}`, 201)
		s.Ask(t, "alice", "POST /repos/guild/secret/issues", `{"title": "c", "body": "@guild/wardens"}`, 201)
		s.Ask(t, "sam", "POST /repos/guild/open/issues", `{"title": "a stranger's", "body": "@guild/wardens"}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/own/issues", `{"title": "elsewhere", "body": "@guild/wardens"}`, 201)
		const a, b, c = "guild/open#1", "guild/open#2", "guild/secret#1"
		for _, f := range []find{
			{q: "team:guild/wardens", as: "alice", want: c + " " + b + " " + a},
			{q: "team:Guild/WARDENS", as: "mia", want: b + " " + a},
			{q: "team:guild/wardens", as: "max", want: b + " " + a},
			{q: "team:guild/wardens team:guild/moles", as: "mia", want: a},
			{q: "team:guild/wardens -team:guild/moles", as: "mia", want: b},
			{q: "repo:guild/open -team:guild/wardens", as: "max", want: "guild/open#3"},
			{q: "repo:guild/open team:guild/moles OR team:guild/wardens", as: "alice", want: c + " " + b + " " + a},
		} {
			f.check(t, s)
		}
		const named = "GET /search/issues?q=team:"
		blind := s.Scoped(t, "mia", "repo")
		s.Run(t, []apitest.Case{
			{Name: "a secret team is there for its members alone", Do: named + "guild/moles", As: "max", Status: 422},
			{Do: named + "guild/wardens", As: "sam", Status: 422},
			{Do: named + "guild/wardens", Status: 422},
			{Do: named + "wardens", As: "mia", Status: 422},
			{Name: "a token that hides memberships", Do: named + "guild/wardens", Status: 422,
				Headers: map[string]string{"Authorization": "token " + blind}},
		})
		s.Ask(t, "alice", "POST /repos/guild/open/transfer", `{"new_owner": "alice"}`, 202)
		find{q: "team:guild/wardens", as: "mia", want: "alice/open#2 alice/open#1"}.check(t, s)
		s.Ask(t, "alice", "PATCH /orgs/guild/teams/wardens", `{"name": "guards"}`, 200)
		find{q: "team:guild/guards", as: "max", want: "alice/open#2 alice/open#1"}.check(t, s)
		s.Ask(t, "alice", "PATCH /repos/alice/open", `{"private": true}`, 200)
		find{q: "team:guild/guards", as: "max"}.check(t, s)
		s.Ask(t, "alice", "DELETE /orgs/guild/teams/guards", "", 204)
		s.Check(t, apitest.Case{Do: named + "guild/guards", As: "alice", Status: 422})
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "guards", "privacy": "closed"}`, 201)
		find{q: "team:guild/guards", as: "alice"}.check(t, s)
	})
}

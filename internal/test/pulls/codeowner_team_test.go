package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A visible team that may push counts as an owner: it is asked, and any member's approval is enough, also of one in a
// team below.
func TestCodeOwnersAreTeams(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "dave")
		s.Org(t, "guild", "alice")
		const at, errors = "/repos/guild/garden", "GET /repos/guild/garden/codeowners/errors"
		s.Grant(t, s.Repo(t, "guild/garden", false), "dave", account.Push)
		dir := t.TempDir()
		gittest.Run(t, "", "clone", "-q", s.Remote(t, "dave", "guild/garden"), dir)
		gittest.Run(t, dir, "checkout", "-q", "-b", "main")
		w := &ownedWorld{Server: s, dir: dir}
		w.write(t, map[string]string{"CODEOWNERS": "* @guild/Wardens\n", "a": "a\n"})
		w.commit(t, "start")
		gittest.Run(t, dir, "push", "-q", "origin", "main")
		gittest.Run(t, dir, "checkout", "-q", "-b", "b")
		w.write(t, map[string]string{"a": "b\n"})
		w.commit(t, "b")
		gittest.Run(t, dir, "push", "-q", "origin", "b")

		unknown := func(want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: errors, As: "dave", Status: 200, Want: `{"errors": [` + want + `]}`})
		}
		var made struct{ ID int64 }
		unknown(`{"kind": "Unknown owner"}`)
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "wardens", "privacy": "closed"}`, 201).JSON(t, &made)
		unknown(`{"kind": "Unknown owner"}`)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/wardens"+at, `{"permission": "pull"}`, 204)
		unknown(`{"kind": "Unknown owner"}`)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/wardens"+at, `{"permission": "push"}`, 204)
		unknown("")
		s.Ask(t, "alice", "PATCH /orgs/guild/teams/wardens", `{"privacy": "secret"}`, 200)
		unknown(`{"kind": "Unknown owner"}`)
		s.Ask(t, "alice", "PATCH /orgs/guild/teams/wardens", `{"privacy": "closed"}`, 200)

		s.Ask(t, "alice", "POST /orgs/guild/teams",
			fmt.Sprintf(`{"name": "night", "privacy": "closed", "parent_team_id": %d}`, made.ID), 201)
		s.Ask(t, "alice", "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200)
		s.Ask(t, "alice", "PUT /orgs/guild/teams/night/memberships/bob", "", 200)
		s.Ask(t, "alice", "PUT "+at+"/branches/main/protection", `{"required_status_checks": null,
			"enforce_admins": true, "restrictions": null, "required_pull_request_reviews":
			{"required_approving_review_count": 0, "require_code_owner_reviews": true}}`, 200)
		s.Ask(t, "dave", "POST "+at+"/pulls", `{"title": "b", "head": "b", "base": "main"}`, 201)
		s.Settle(t)
		s.Check(t, apitest.Case{Do: "GET " + at + "/pulls/1/requested_reviewers", As: "alice", Status: 200,
			Want: `{"users": [], "teams": [{"slug": "wardens"}]}`})
		s.Visit(t, "alice", "GET /guild/garden/pull/1").Shows(t, 200, "guild/wardens Code owner")
		s.Ask(t, "alice", "POST /orgs/guild/teams", `{"name": "others", "privacy": "closed", "repo_names": ["garden"]}`, 201)
		s.Ask(t, "alice", "POST "+at+"/pulls/1/requested_reviewers", `{"team_reviewers": ["others"]}`, 201)
		s.Visit(t, "alice", "GET /guild/garden/pull/1").Shows(t, 200, "guild/others", "!guild/others Code owner")
		s.Ask(t, "alice", "DELETE "+at+"/pulls/1/requested_reviewers", `{"team_reviewers": ["others"]}`, 200)
		if merged, why := w.merged(t, at+"/pulls/1", "merge"); merged || !strings.Contains(why, "@guild/") {
			t.Errorf("merged %v without an approval: %s", merged, why)
		}
		w.approve(t, at+"/pulls/1", "bob")
		s.Settle(t)
		s.Check(t, apitest.Case{Do: "GET " + at + "/pulls/1/requested_reviewers", As: "alice", Status: 200,
			Want: `{"users": [], "teams": []}`})
		if merged, why := w.merged(t, at+"/pulls/1", "merge"); !merged {
			t.Error("not merged with the approval of a member:", why)
		}
	})
}

// Auto-merge waits for the code owners.
func TestAutoMergeWaitsForCodeOwners(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "/docs/ @bob\n", true)
		s.Ask(t, "alice", "PATCH "+ownedRepo, `{"allow_auto_merge": true}`, 200)
		pull := w.propose(t, "b", "", func() { w.write(t, map[string]string{"docs/a.md": "b\n"}) })
		s.Settle(t)
		auto := waiters{s, "alice/garden"}
		auto.enable(t, "dave", 1, "")
		w.approve(t, pull, "carol")
		if by := auto.settled(t, 1); by != "" {
			t.Fatal("merged without the owner's approval by", by)
		}
		w.approve(t, pull, "bob")
		if by := auto.settled(t, 1); by != "dave" {
			t.Errorf("merged by %q after the owner's approval", by)
		}
	})
}

// Lists of pull requests ask no statement for each row, though rules require reviews of code owners.
func TestCodeOwnersStatements(t *testing.T) {
	t.Parallel()
	s, statements := apitest.StartCounted(t, db.SQLite)
	w := newOwned(t, s, "/docs/ @bob @carol\n", true)
	lists := []apitest.Case{
		{Do: "GET " + ownedRepo + "/pulls?per_page=100", As: "dave", Status: 200},
		{Do: "GET /alice/garden/pulls", Headers: map[string]string{"Accept": "text/html"}, Status: 200},
		{Do: "POST /graphql", As: "dave", Status: 200, Send: `{"query": "{repository(owner:\"alice\",name:\"garden\"){
			pullRequests(first:100){nodes{number reviewDecision reviewRequests(first:10){nodes{asCodeOwner}}}}}}"}`},
	}
	lists[2].Send = strings.Join(strings.Fields(lists[2].Send), " ")
	n := 0
	open := func(to int) (costs []int64) {
		t.Helper()
		for ; n < to; n++ {
			w.propose(t, fmt.Sprint("b", n), "", func() { w.write(t, map[string]string{"docs/a.md": fmt.Sprint(n, "\n")}) })
		}
		s.Settle(t)
		for _, list := range lists {
			s.Check(t, list)
			before := statements.Load()
			answer := s.Check(t, list)
			costs = append(costs, statements.Load()-before)
			if list.Do == "POST /graphql" && strings.Count(string(answer.Body), `"REVIEW_REQUIRED"`) != n {
				t.Errorf("GraphQL: %s", answer.Body)
			}
		}
		return costs
	}
	few, many := open(2), open(30)
	for i, list := range lists {
		// Pages and caches differ, but 28 rows more ask nothing each; and a list costs what a page may cost at most.
		if many[i] >= few[i]+14 || many[i] > 40 {
			t.Errorf("%s: %d statements for 30 pull requests, %d for 2", list.Do, many[i], few[i])
		}
	}
}

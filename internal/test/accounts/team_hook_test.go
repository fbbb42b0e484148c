package accounts_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Webhooks of the organization hear of its teams; those of a repository of closed ones alone, since they are for
// others than its owners.
func TestTeamHooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		crew(t, s)
		orgs, repos := receive(t, nil), receive(t, nil)
		hookOn(t, s, "/orgs/garden", "alice", orgs, `["team", "membership"]`)
		hookOn(t, s, "/repos/garden/shed", "alice", repos, `["team_add", "team", "membership"]`)
		do := func(names, request, send string, status int) []*sent {
			t.Helper()
			return told(t, s, orgs, apitest.Case{Do: request, As: "alice", Send: send, Status: status}, names)
		}
		do("team.created", "POST "+atTeams, `{"name":"moles"}`, 201)
		do("team.created", "POST "+atTeams, `{"name":"weeders","privacy":"closed"}`, 201)
		got := do("membership.added", "PUT "+atTeams+"/weeders/memberships/max", "", 200)
		for _, part := range []string{`"scope":"team"`, `"slug":"weeders"`, `"member":{"login":"max"`,
			`"sender":{"login":"alice"`,
			`"organization":{"login":"garden"`} {
			if !strings.Contains(string(got[0].Body), part) {
				t.Errorf("no %s in %s", part, got[0].Body)
			}
		}
		do("team.added_to_repository", "PUT "+atTeams+"/moles/repos/garden/shed", "", 204)
		got = do("team.added_to_repository", "PUT "+atTeams+"/weeders/repos/garden/shed", "", 204)
		if body := string(got[0].Body); !strings.Contains(body, `"full_name":"garden/shed"`) {
			t.Errorf("no repository in %s", body)
		}
		do("team.edited", "PUT "+atTeams+"/weeders/repos/garden/shed", `{"permission":"push"}`, 204)
		do("team.edited", "PATCH "+atTeams+"/weeders", `{"name":"Diggers"}`, 200)
		do("team.removed_from_repository", "DELETE "+atTeams+"/diggers/repos/garden/shed", "", 204)
		do("membership.removed", "DELETE "+atTeams+"/diggers/memberships/max", "", 204)
		do("team.deleted", "DELETE "+atTeams+"/diggers", "", 204)
		if got := repos.expect(t, "team_add"); !strings.Contains(string(got[0].Body), `"slug":"weeders"`) {
			t.Errorf("another team was added: %s", got[0].Body)
		}
	})
}

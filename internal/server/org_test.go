package server_test

import (
	"fmt"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
)

// Members whom an organization shows nothing must not learn how much there is
// to see (decision 13).
func TestCountsOfOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Org(t, "guild", "alice")
		s.Repo(t, "guild/hidden", true)
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/guild/members/bob", As: "alice", Status: 204},
			{Name: "members may pull", Do: "GET /orgs/guild", As: "bob", Status: 200,
				Want: `{"total_private_repos": 1, "public_repos": 0}`},
			{Do: "PATCH /orgs/guild", As: "alice", Send: `{"default_repository_permission": "none"}`,
				Status: 200, Want: `{"total_private_repos": 1}`},
			{Name: "now they may not", Do: "GET /orgs/guild", As: "bob", Status: 200,
				Want: `{"total_private_repos": 0, "owned_private_repos": 0, "default_repository_permission": "none"}`},
			{Do: "GET /orgs/guild/repos", As: "bob", Status: 200, Body: "[]"},
			{Do: "GET /repos/guild/hidden", As: "bob", Status: 404},
			{Name: "owners", Do: "GET /orgs/guild", As: "alice", Status: 200,
				Want: `{"total_private_repos": 1}`},
			{Name: "anyone", Do: "GET /orgs/guild", Status: 200, Want: `{"total_private_repos": "$absent"}`},
		})
	})
}

// An owner who was just removed by another owner cannot remove anyone.
func TestOwnersRemoveEachOther(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		for i := range 20 {
			org := fmt.Sprintf("guild%d", i)
			s.Org(t, org, "carol")
			for _, login := range []string{"alice", "bob"} {
				s.Check(t, apitest.Case{Do: "PUT /orgs/" + org + "/memberships/" + login, As: "carol",
					Send: `{"role": "admin"}`, Status: 200})
			}
			var statuses [2]int
			var both sync.WaitGroup
			both.Go(func() {
				statuses[0] = s.Do(t, apitest.Case{Do: "DELETE /orgs/" + org + "/members/bob",
					As: "alice"}).Status
			})
			both.Go(func() {
				statuses[1] = s.Do(t, apitest.Case{Do: "DELETE /orgs/" + org + "/members/alice",
					As: "bob"}).Status
			})
			both.Wait()
			if statuses != [2]int{204, 403} && statuses != [2]int{403, 204} {
				t.Errorf("%s: answered %v, want one 204 and one 403", org, statuses)
			}
		}
	})
}

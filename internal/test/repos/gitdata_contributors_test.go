package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Authors of commits on the default branch are listed with their number of commits, once for any case of an
// address. Merges do not count.
func TestContributors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gitdataPlant(t, s)
		s.Run(t, []apitest.Case{
			{Do: "GET " + gitdataAt + "/contributors", Status: 200,
				Want: `[{"login": "alice", "type": "User", "contributions": 1}]`},
			{Do: "GET " + gitdataAt + "/contributors?anon=1", Status: 200,
				Want: `[{"type": "Anonymous", "name": "A U Thor", "email": "$any", "login": "$absent", "contributions": 3}, {"login": "alice", "contributions": 1}]`},
			{Do: "GET " + gitdataAt + "/contributors?anon=true&per_page=1", Status: 200,
				Want: `[{"name": "A U Thor"}]`, Has: map[string]string{
					"Link": `<{base}` + gitdataAt +
						`/contributors?anon=true&per_page=1&page=2>; rel="next", <{base}` + gitdataAt +
						`/contributors?anon=true&per_page=1&page=2>; rel="last"`}},
			{Do: "GET /repos/alice/empty/contributors", Status: 204, Body: "-"},
			{Name: "a new commit counts", Do: "PUT " + gitdataAt + "/contents/new.txt", As: "alice", Status: 201,
				Send: `{"message": "New", "content": ""}`},
			{Do: "GET " + gitdataAt + "/contributors", Status: 200,
				Want: `[{"login": "alice", "contributions": 2}]`},
		})
		if err := s.Accounts.RemoveEmail(t.Context(), "alice", "alice@example.org"); err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Name: "who leaves an address leaves the list",
			Do: "GET " + gitdataAt + "/contributors", Status: 200, Body: "[]"})
	})
}

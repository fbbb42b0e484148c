package repos_test

import (
	"fmt"
	"net/http"
	"testing"

	"arbor/internal/test/apitest"
)

// Two people who do things to one repository at once get each an answer that
// makes sense, and the owner's counts stay right.
func TestRepositoryRaces(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		count := func(public, private int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 200,
				Want: fmt.Sprintf(`{"public_repos": %d, "total_private_repos": %d}`, public, private)})
		}
		create := func(name string) apitest.Case {
			return apitest.Case{Do: "POST /user/repos", As: "alice", Send: fmt.Sprintf(`{"name": %q}`, name)}
		}
		t.Run("one name", func(t *testing.T) {
			made := 0
			for _, status := range s.Together(t, create("a"), create("A"), create("a"), create("A"),
				create("a")) {
				switch status {
				case http.StatusCreated:
					made++
				case http.StatusUnprocessableEntity:
				default:
					t.Errorf("create answered %d", status)
				}
			}
			if made != 1 {
				t.Errorf("%d were created", made)
			}
			count(1, 0)
		})
		t.Run("delete beside the rest", func(t *testing.T) {
			for i := range 25 {
				name := fmt.Sprintf("r%d", i)
				s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice",
					Send: fmt.Sprintf(`{"name": %q}`, name), Status: 201})
				path := "/repos/alice/" + name
				for k, status := range s.Together(t,
					apitest.Case{Do: "DELETE " + path, As: "alice"},
					apitest.Case{Do: "PATCH " + path, As: "alice", Send: `{"private": true}`},
					apitest.Case{Do: "PUT " + path + "/collaborators/bob", As: "alice"},
					apitest.Case{Do: "DELETE " + path, As: "alice"},
					apitest.Case{Do: "PATCH " + path, As: "alice",
						Send: fmt.Sprintf(`{"name": "new%d"}`, i)}) {
					if status >= 500 || status == http.StatusUnprocessableEntity {
						t.Errorf("request %d answered %d", k, status)
					}
				}
				s.Do(t, apitest.Case{Do: fmt.Sprintf("DELETE /repos/alice/new%d", i), As: "alice"})
			}
			count(1, 0)
		})
		t.Run("rename beside create", func(t *testing.T) {
			for i := range 15 {
				s.Together(t,
					apitest.Case{Do: "PATCH /repos/alice/a", As: "alice",
						Send: fmt.Sprintf(`{"name": "b%d"}`, i)},
					create(fmt.Sprintf("b%d", i)))
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/b%d", i), Status: 200,
					Want: fmt.Sprintf(`{"name": "b%d"}`, i)})
			}
		})
	})
}

package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// A program that asks for an address below a commit or a branch gets a 404 for that address. If the answer
// said that the commit or the branch is missing, the program would give up.
func TestAddressesBelowNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var made struct{ Commit struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
			Send: `{"message": "m", "content": "YQ=="}`}).JSON(t, &made)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/beds/east", "sha": "` + made.Commit.SHA + `"}`})
		const none = "Not Found: this server does not have GET /repos/{owner}/{repo}/"
		for address, want := range map[string]string{
			"commits/main/what-is-not-there":           none + "commits/{ref}/what-is-not-there",
			"commits/main/what/is-not-there":           none + "commits/{ref}/what/is-not-there",
			"commits/HEAD/what-is-not-there":           none + "commits/{ref}/what-is-not-there",
			"commits/" + made.Commit.SHA + "/pictures": none + "commits/{ref}/pictures",
			"commits/beds/east/pictures":               none + "commits/{ref}/pictures",
			"commits/beds%2Feast/pictures":             none + "commits/{ref}/pictures",
			"branches/main/what-is-not-there":          none + "branches/{branch}/what-is-not-there",
			"branches/beds/east/what-is-not-there":     none + "branches/{branch}/what-is-not-there",
			"branches/none/what-is-not-there":          "Branch not found",
			"branches/main%2Fwhat":                     "Branch not found",
		} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 404,
				Want: `{"message": "` + want + `"}`})
			s.Check(t, apitest.Case{Do: "GET /api/v3/repos/alice/garden/" + address, Status: 404,
				Want: `{"message": "` + want + `"}`})
		}
		for _, address := range []string{"commits/none/what", "commits/main%2Fwhat"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 422})
		}
		for _, address := range []string{"commits/beds/east", "branches/beds/east", "commits/beds%2Feast"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 200})
		}
	})
}

package server_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// hidden are the deleted repositories that are still there.
func hidden(t *testing.T, s *apitest.Server) (ids []repo.ID) {
	t.Helper()
	err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		ids, err = db.QueryIDs[repo.ID](tx, `SELECT id FROM repos WHERE name LIKE '~%'`)
		return err
	})
	testkit.NoError(t, err)
	return ids
}

// removed lifts the gate, and waits until no deleted repository is left.
func removed(t *testing.T, s *apitest.Server, g *apitest.Gate) {
	t.Helper()
	if len(hidden(t, s)) == 0 {
		t.Error("no deleted repository waits")
	}
	g.Lift()
	testkit.Eventually(t, func() bool { return len(hidden(t, s)) == 0 }, "no deleted repository is left")
}

// While a deleted repository waits to be emptied, its name is free, and its owner's account cannot go, which
// it can afterwards.
func TestDeletedRepositoryWithManyIssues(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, g := apitest.Gated(t, engine)
		s.Admin(t, "chief")
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		const at = "/repos/alice/garden"
		s.Run(t, []apitest.Case{
			{Do: "PUT " + at + "/contents/a", As: "alice", Send: `{"message": "m", "content": "eA=="}`,
				Status: 201},
			{Do: "POST " + at + "/issues", As: "bob", Send: `{"title": "Slugs"}`, Status: 201},
			{Do: "PUT /user/starred/alice/garden", As: "bob", Status: 204},
			{Do: "PATCH " + at, As: "alice", Send: `{"name": "plot"}`, Status: 200},
		})
		s.Crowd(t, "alice", "plot")
		s.Run(t, []apitest.Case{
			{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204, Body: "-"},
			{Name: "gone by its name", Do: "GET /repos/alice/plot", As: "chief", Status: 404},
			{Name: "and by that before", Do: "GET /repos/alice/garden", As: "chief", Status: 404},
			{Do: "DELETE /repos/alice/plot", As: "alice", Status: 404},
			{Do: "GET /user", As: "alice", Status: 200,
				Want: `{"public_repos": 0, "owned_private_repos": 0}`},
			{Do: "GET /user/starred", As: "bob", Status: 200, Body: "[]"},
			{Do: "GET /issues?filter=created", As: "bob", Status: 200, Body: "[]"},
			{Name: "the name is free", Do: "POST /user/repos", As: "alice", Send: `{"name": "plot"}`,
				Status: 201, Want: `{"private": false, "open_issues_count": 0}`},
			{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204},
			{Do: "DELETE /admin/users/alice", As: "chief", Status: 409,
				Want: `{"message": "Repositories of alice are still being removed: try again in a moment"}`},
		})
		for _, id := range hidden(t, s) {
			name := "/repos/alice/" + repo.DeletedName(id)
			s.Run(t, []apitest.Case{
				{Name: "nor is it a site administrator's", Do: "GET " + name, As: "chief", Status: 404},
				{Do: fmt.Sprint("GET /repositories/", id), As: "chief", Status: 404},
				{Do: "POST " + name + "/forks", As: "chief", Status: 404},
				{Do: "PATCH " + name, As: "chief", Send: `{"name": "mine"}`, Status: 404},
				{Do: "POST " + name + "/issues", As: "chief", Send: `{"title": "x"}`, Status: 404},
				{Do: "POST " + name + "/transfer", As: "chief", Send: `{"new_owner": "chief"}`, Status: 404},
				{Do: "DELETE " + name, As: "chief", Status: 404},
				{Do: "GET /users/alice/repos", As: "chief", Status: 200, Body: "[]"},
				{Do: "GET /search/repositories?q=user:alice", As: "chief", Status: 200,
					Want: `{"total_count": 0}`},
				{Do: "GET /search/issues?q=Slugs", As: "chief", Status: 200, Want: `{"total_count": 0}`},
			})
			if err := s.Server.Forge().Network.GiveBack(t.Context(), nil, id); !errs.Is(err, errs.Invalid) {
				t.Errorf("what is being deleted is given back: %v", err)
			}
		}
		removed(t, s, g)
		s.Run(t, []apitest.Case{
			{Do: "DELETE /admin/users/alice", As: "chief", Status: 204},
			{Do: "GET /users/alice", Status: 404},
		})
	})
}

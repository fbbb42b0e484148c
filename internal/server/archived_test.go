package server_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What an archived repository takes, and how it is found.
func TestArchivedRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "holder", "writer", "guest")
		s.Grant(t, s.Repo(t, "holder/chamomile", false), "writer", account.Push)
		const path, search = "/repos/holder/chamomile", "GET /search/issues?q=repo:holder/chamomile"
		s.Run(t, []apitest.Case{
			{Do: "PUT " + path + "/contents/a", As: "holder", Status: 201,
				Send: `{"message":"m","content":"eA=="}`},
			{Do: "POST " + path + "/issues", As: "holder", Send: `{"title":"t"}`, Status: 201},
			{Do: "PATCH " + path, As: "writer", Send: `{"archived":true}`, Status: 403},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":true}`, Status: 200,
				Want: `{"archived":true}`},
			{Do: "GET " + path, Status: 200, Want: `{"archived":true}`},
			{Do: search + "+archived:false", Status: 200, Want: `{"total_count":0}`},
			{Do: search + "+archived:true", Status: 200, Want: `{"total_count":1}`},
			{Do: "PATCH " + path, As: "holder", Send: `{"description":"d"}`, Status: 403},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":true}`, Status: 403},
			{Do: "PUT /user/starred/holder/chamomile", As: "guest", Status: 204},
			{Do: "DELETE /user/starred/holder/chamomile", As: "guest", Status: 204},
			{Do: "PUT " + path + "/subscription", As: "guest", Send: `{"subscribed":true}`, Status: 200},
			{Do: "POST " + path + "/forks", As: "guest", Send: `{}`, Status: 202, Want: `{"archived":false}`},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":false,"description":"d"}`, Status: 200,
				Want: `{"archived":false,"description":"d"}`},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":true}`, Status: 200},
			{Do: "DELETE " + path, As: "holder", Status: 204},
		})
	})
}

// Who begins to write before a repository is archived does not end it afterwards: the right
// is asked for in the transaction.
func TestArchivedMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		a, err := s.Repos.Find(t.Context(), &account.Caller{ID: alice.ID, Login: alice.Login}, "alice", "garden")
		testkit.NoError(t, err)
		err = s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE repos SET archived = TRUE WHERE id = $1`, r.ID)
			return err
		})
		testkit.NoError(t, err)
		err = s.DB.WriteAs(t.Context(), &a.Access, func(tx *db.Tx) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "archived") {
			t.Error(err)
		}
	})
}

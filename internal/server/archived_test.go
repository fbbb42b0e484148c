package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// writableArchived are the routes that an archived repository takes: marks of the caller's
// own, forks of it, another owner, and its end.
var writableArchived = []string{
	"PATCH /repos/{owner}/{repo}", "DELETE /repos/{owner}/{repo}", "POST /repos/{owner}/{repo}/forks",
	"POST /repos/{owner}/{repo}/transfer", "POST /repos/{owner}/{repo}/generate",
	"PUT /user/starred/{owner}/{repo}", "DELETE /user/starred/{owner}/{repo}",
	"PUT /repos/{owner}/{repo}/notifications",
	"PUT /repos/{owner}/{repo}/subscription", "DELETE /repos/{owner}/{repo}/subscription",
	"POST /{owner}/{repo}/git-upload-pack", "DELETE /repos/{owner}/{repo}/keys/{key_id}",
	"DELETE /repos/{owner}/{repo}/hooks/{hook_id}",
}

// ofRepo finds the repository's name in a request.
var ofRepo = regexp.MustCompile(`^[A-Z]+ /repos/[^/]+/([^/]+)`)

// An archived repository is read-only for everybody, also for administrators of the site.
// Every unsafe route is asked for by one who may, before it is archived in the store and
// after that, and again when it is not archived any more.
func TestAnArchivedRepositoryIsReadOnly(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		h := w.Homes[1]
		archive := func(is bool, name string) {
			t.Helper()
			w.sql(t, `UPDATE repos SET archived = $1 WHERE name = $2`, is, name)
		}
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet || !onRepo(&r) {
				continue
			}
			q := w.Request(t, &r, h)
			if slices.Contains(writableArchived, r.Method+" "+r.Pattern) {
				continue
			}
			name := h.Name
			if made := ofRepo.FindStringSubmatch(q.Do); made != nil { // for this request, perhaps
				name = made[1]
			}
			archive(true, name)
			before := w.digest(t)
			for _, who := range []string{q.Who, "chief"} {
				a := w.ask(t, who, q.Case)
				if a.Status != http.StatusForbidden ||
					!strings.Contains(string(a.Body), "Repository was archived so is read-only.") {
					t.Errorf("%s by %s: %d %s", q.Do, who, a.Status, a.Body)
				}
			}
			w.unchanged(t, q.Case, before)
			archive(false, name)
			if a := w.ask(t, q.Who, q.Case); a.Status >= 300 && r.Group != route.Git {
				t.Errorf("%s when it is not archived: %d %s", q.Do, a.Status, a.Body)
			}
		}
		path := "/repos/" + h.Owner + "/" + h.Name
		s.Run(t, []apitest.Case{
			{Do: "PATCH " + path, As: "writer", Send: `{"archived":true}`, Status: 403},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":true}`, Status: 200,
				Want: `{"archived":true}`},
			{Do: "GET " + path, Status: 200, Want: `{"archived":true}`},
			{Do: "GET /search/issues?q=repo:" + h.Owner + "/" + h.Name + "+archived:false", Status: 200,
				Want: `{"total_count":0}`},
			{Do: "GET /search/issues?q=repo:" + h.Owner + "/" + h.Name + "+archived:true+is:pr", Status: 200,
				Want: `{"incomplete_results":false}`},
			{Do: "PATCH " + path, As: "holder", Send: `{"description":"d"}`, Status: 403},
			{Do: "PATCH " + path, As: "holder", Send: `{"archived":true}`, Status: 403},
			{Do: "PUT /user/starred/" + h.Owner + "/" + h.Name, As: "guest", Status: 204},
			{Do: "DELETE /user/starred/" + h.Owner + "/" + h.Name, As: "guest", Status: 204},
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
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		a, err := s.Repos.Find(t.Context(), nil, "alice", "garden")
		if err != nil {
			t.Fatal(err)
		}
		err = s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE repos SET archived = TRUE WHERE id = $1`, r.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.DB.Write(db.WithCheck(t.Context(), a.HoldsWritable), func(tx *db.Tx) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "archived") {
			t.Error(err)
		}
	})
}

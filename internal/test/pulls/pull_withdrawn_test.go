package pulls_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// An update of a branch moves a ref of the head's repository. A caller who loses the
// right to push there while the merge is made must not move it any more.
func TestUpdateAsksForTheHeadAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.URL(t, engine)
		s := apitest.Start(t, engine, func(o *server.Options) { o.DB = dbtest.OpenURL(t, address) })
		holder, err := db.Open(t.Context(), db.Options{URL: address})
		testkit.NoError(t, err)
		defer holder.Close()
		garden(t, s)
		fork(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam",
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`, Status: 201})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		head, err := s.Repos.Find(t.Context(), nil, "sam", "plot")
		testkit.NoError(t, err)
		s.User(t, "helper")
		s.Grant(t, head.Repo, "helper", account.Push)
		const update = "PUT /repos/alice/plot/pulls/1/update-branch"
		answered := make(chan *apitest.Answer, 1)
		var once sync.Once
		err = holder.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`UPDATE repos SET owner_id = owner_id WHERE id = $1`, head.ID); err != nil {
				return err
			}
			once.Do(func() {
				go func() { answered <- s.Do(t, apitest.Case{Do: update, As: "helper"}) }()
				// Until then it waits for the row; if not, it is refused before.
				time.Sleep(300 * time.Millisecond)
			})
			_, err := tx.Exec(`DELETE FROM collaborators WHERE repo_id = $1`, head.ID)
			return err
		})
		testkit.NoError(t, err)
		if a := <-answered; a.Status != http.StatusForbidden {
			t.Errorf("%s by who lost the right meanwhile: %d %s", update, a.Status, a.Body)
		}
		s.Grant(t, head.Repo, "helper", account.Push)
		s.Check(t, apitest.Case{Name: "with the right", Do: update, As: "helper",
			Status: http.StatusAccepted})
	})
}

// A request that found the repository before a change must not leave its answer to
// those who come after it: they would see the repository as it was, for as long as
// nobody writes anything.
func TestAnswersOfRequestsInFlightAreNotKept(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 1)
		propose(t, s, "sam", "alice/plot", "b0", "main")
		answer := repo.NewAnswers(1 << 20).OfCaller(pull.NewAPI(s.Forge.Pulls, nil, nil).List)
		find := func() *repo.Access {
			f, err := s.Repos.Find(t.Context(), nil, "alice", "plot")
			testkit.NoError(t, err)
			return &f.Access
		}
		list := func(a *repo.Access) string {
			r := httptest.NewRequest("GET", "/repos/alice/plot/pulls", nil)
			r = web.With(r, &web.Info{Site: "http://here", Prefix: "http://here",
				Media: web.ParseAccept(nil)})
			w := httptest.NewRecorder()
			testkit.NoError(t, answer(w, r, a))
			return w.Body.String()
		}
		before := find()
		s.Ask(t, "alice", "PATCH /repos/alice/plot", `{"description": "Beans now"}`, 200)
		list(before)
		if found := list(find()); !strings.Contains(found, "Beans now") {
			t.Errorf("a list of after the change shows the repository as it was before: %s", found)
		}
	})
}

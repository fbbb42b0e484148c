package pulls_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/web"
)

// A request that found the repository before a change must not leave its answer to
// those who come after it: they would see the repository as it was, for as long as
// nobody writes anything.
func TestAnswersOfRequestsInFlightAreNotKept(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 1)
		propose(t, s, "sam", "alice/plot", "b0", "main")
		api := pull.NewAPI(s.Forge.Pulls, nil)
		find := func() *repo.Access {
			f, err := s.Repos.Find(t.Context(), nil, "alice", "plot")
			if err != nil {
				t.Fatal(err)
			}
			return &f.Access
		}
		list := func(a *repo.Access) string {
			r := httptest.NewRequest("GET", "/repos/alice/plot/pulls", nil)
			r = web.With(r, &web.Info{Site: "http://here", Prefix: "http://here",
				Media: web.ParseAccept(nil)})
			w := httptest.NewRecorder()
			if err := api.List(w, r, a); err != nil {
				t.Fatal(err)
			}
			return w.Body.String()
		}
		before := find()
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice",
			Send: `{"description": "Beans now"}`, Status: 200})
		list(before)
		if found := list(find()); !strings.Contains(found, "Beans now") {
			t.Errorf("a list of after the change shows the repository as it was before: %s", found)
		}
	})
}

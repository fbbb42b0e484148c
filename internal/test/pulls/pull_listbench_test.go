package pulls_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// BenchmarkList renders pages of 30 that are not cached: each has another query, which does not affect what
// is read.
func BenchmarkList(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	for _, login := range []string{"alice", "sam"} {
		s.User(b, login)
	}
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	for i := range 30 {
		w.commit(fmt.Sprint("b", i), fmt.Sprint("Add ", i), "main", "", one(fmt.Sprint("new", i), "x\n"))
	}
	s.Import(b, s.Repo(b, "alice/plot", false), w.write(b))
	for i := range 30 {
		made := propose(b, s, "sam", "alice/plot", fmt.Sprint("b", i), "main")
		s.Check(b, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", made.Number),
			As:   "alice",
			Send: `{"labels": ["bug", "help wanted"], "assignees": ["alice"]}`, Status: http.StatusOK})
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		rec := httptest.NewRecorder()
		s.Server.ServeHTTP(rec, httptest.NewRequest(http.MethodGet,
			fmt.Sprint("/repos/alice/plot/pulls?per_page=30&n=", n), nil))
		if rec.Code != http.StatusOK {
			b.Fatalf("%d %s", rec.Code, rec.Body)
		}
		b.SetBytes(int64(rec.Body.Len()))
	}
}

package issue_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
	"arbor/internal/web"
)

// BenchmarkListFromMemory makes pages of 30 that nobody asked for before, in a
// repository that is in memory.
func BenchmarkListFromMemory(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	made, err := issuetest.Fill(b.Context(), s.DB, issuetest.Thousand())
	if err != nil {
		b.Fatal(err)
	}
	issues := issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge)
	id := made.Repos[0].ID
	if err := issues.FillIndex(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	var list []*repo.Access
	if err := s.DB.Read(b.Context(), func(tx *db.Tx) (err error) {
		list, err = repo.Accesses(tx, &account.Caller{ID: 1, SiteAdmin: true}, []repo.ID{id})
		return err
	}); err != nil || len(list) != 1 {
		b.Fatal(err)
	}
	api := issue.NewAPI(issues)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r := httptest.NewRequest("GET",
			fmt.Sprintf("/repos/works/project0/issues?per_page=30&page=%d&state=all&sort=updated&x=%d",
				1+n%20, n), nil)
		r = web.With(r, &web.Info{Site: "http://here", Prefix: "http://here", Media: web.ParseAccept(nil)})
		w := &discarded{header: http.Header{}}
		if err := api.List(w, r, list[0]); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(w.bytes)
	}
}

// discarded is an answer that nobody reads.
type discarded struct {
	header http.Header
	bytes  int64
}

func (d *discarded) Header() http.Header { return d.header }
func (d *discarded) WriteHeader(int)     {}
func (d *discarded) Write(b []byte) (int, error) {
	d.bytes += int64(len(b))
	return len(b), nil
}

package issue

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"

	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// FillIndex fills the index of a repository, as its first list would have done.
func (s *Service) FillIndex(ctx context.Context, repoID repo.ID) error {
	return s.indexes.Fill(ctx, repoID)
}

// IDsFound are the ids that package finder gives.
func IDsFound(list []int64) []ID { return idsFound(list) }

var errBySQL = errors.New("not found in memory")

// FindInMemory finds what a prepared query chooses in memory. Error: where SQL
// would have been asked.
func (s *Service) FindInMemory(tx *db.Tx, q finder.Query, offset, size int64) (finder.Found, error) {
	f, ok, err := s.indexes.Find(tx, &q, offset, size)
	if err == nil && !ok {
		err = errBySQL
	}
	return finder.Found{IDs: f.IDs, Total: f.Total}, err
}

// RenderList makes a list of a repository's issues as List does.
func RenderList(s *Service, r *http.Request, a *repo.Access) (body []byte, etag, link string, err error) {
	c, err := readChoice(r)
	if err != nil {
		return nil, "", "", err
	}
	w := httptest.NewRecorder()
	err = web.Answer(w, r, http.StatusOK, NewAPI(s).listing(w, r, a, c))
	return w.Body.Bytes(), w.Header().Get("Etag"), w.Header().Get("Link"), err
}

// Kept reports whether the list of a request is in memory, whole.
func Kept(s *Service, r *http.Request, a *repo.Access) bool {
	c, err := readChoice(r)
	if err != nil {
		return false
	}
	by := func(n names) (finder.And, bool, error) { return chooseIn(n, c, r) }
	g := generations{a.IssuesGeneration, a.LegendGeneration, a.AccountsGeneration}
	_, err = s.listUnder(r.Context(), nil, g, listRequest{a, by, c.order, web.ReadPage(r)})
	return err == nil
}

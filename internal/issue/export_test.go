package issue

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"

	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// FillIndex fills the index of a repository, as its first list would have done.
func (s *Service) FillIndex(ctx context.Context, repo int64) error { return s.fillIndex(ctx, repo) }

var errBySQL = errors.New("not found in memory")

// FindInMemory is Find where all repositories are in memory. Error: where it
// would have asked SQL.
func (s *Service) FindInMemory(tx *db.Tx, q posting.Query, offset, size int64) ([]int64, int64, error) {
	f, ok, err := s.indexes.find(tx, &q, offset, size)
	if err == nil && !ok {
		err = errBySQL
	}
	return f.ids, f.total, err
}

// RenderList makes a list of a repository's issues as List does: from memory, or
// by SQL. ok is false where memory cannot.
func RenderList(s *Service, r *http.Request, a *repo.Access, memory bool) (body []byte, etag, link string, ok bool, err error) {
	c, err := readChoice(r)
	if err != nil {
		return nil, "", "", false, err
	}
	w := httptest.NewRecorder()
	inMemory, bySQL := NewAPI(s).listing(w, r, a, c)
	err = web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		if ok = true; !memory {
			return bySQL(out)
		}
		ok, err = inMemory(out)
		return err
	})
	return w.Body.Bytes(), w.Header().Get("Etag"), w.Header().Get("Link"), ok, err
}

// ListInMemory makes a list of a repository's issues in a room.
func (api *API) ListInMemory(r *http.Request, a *repo.Access, room []byte) (body []byte, ok bool, err error) {
	c, err := readChoice(r)
	if err != nil {
		return nil, false, err
	}
	w := httptest.NewRecorder()
	w.Body = nil
	inMemory, _ := api.listing(w, r, a, c)
	err = web.AnswerIn(&room, w, r, http.StatusOK, func(out *web.Output) (err error) {
		ok, err = inMemory(out)
		return err
	})
	return room, ok, err
}

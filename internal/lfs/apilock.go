package lfs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// lockPage is how many locks a page has at most.
const lockPage = 100

type lockJSON struct {
	ID       string    `json:"id"`
	Path     string    `json:"path"`
	LockedAt string    `json:"locked_at"`
	Owner    ownerJSON `json:"owner"`
}

type ownerJSON struct {
	Name string `json:"name"`
}

func newLock(l *Lock) *lockJSON {
	return &lockJSON{strconv.FormatInt(l.ID, 10), l.Path, l.LockedAt.Time().UTC().Format(time.RFC3339),
		ownerJSON{l.Owner}}
}

func newLocks(list []Lock) []*lockJSON {
	out := make([]*lockJSON, len(list))
	for n := range list {
		out[n] = newLock(&list[n])
	}
	return out
}

// GET /{owner}/{repo}/info/lfs/locks
//
// ListLocks answers locks of the repository, the oldest first, in pages: ?path= and ?id= choose one. Locks are on all
// branches, so ?refspec= chooses nothing. Error: 422 for a cursor, an id or a limit that is none.
func (api *API) ListLocks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	f := lockFilter{Path: q.Get("path")}
	var err error
	if f.ID, err = number("id", q.Get("id")); err != nil {
		return err
	}
	if f.Limit, err = number("limit", q.Get("limit")); err != nil {
		return err
	}
	list, next, err := api.s.page(r.Context(), a, f, q.Get("cursor"))
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, struct {
		Locks []*lockJSON `json:"locks"`
		Next  string      `json:"next_cursor,omitempty"`
	}{newLocks(list), next})
}

// number reads a number of a query; 0: it is missing. Error: 422.
func number(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errs.Newf(errs.Invalid, "%s must be a number", name)
	}
	return n, nil
}

// page reads a page of locks, and the cursor of the next one; empty: it is the last.
func (s *Service) page(
	ctx context.Context, a *repo.Access, f lockFilter, cursor string,
) (list []Lock, next string, err error) {
	if f.From, err = number("cursor", cursor); err != nil {
		return nil, "", err
	}
	if f.Limit == 0 || f.Limit > lockPage {
		f.Limit = lockPage
	}
	size := f.Limit
	f.Limit++
	list, err = db.Get(ctx, s.db, func(tx *db.Tx) ([]Lock, error) { return listLocks(tx, a.ID, f) })
	if int64(len(list)) > size {
		next = strconv.FormatInt(list[size].ID, 10)
		list = list[:size]
	}
	return list, next, err
}

// POST /{owner}/{repo}/info/lfs/locks
//
// CreateLock locks a path. Errors: 409, with the lock, for one that is locked; 403; 422.
func (api *API) CreateLock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var q struct {
		Path string `json:"path"`
	}
	if err := decode(r, &q); err != nil {
		return err
	}
	type made struct {
		Lock    *lockJSON `json:"lock"`
		Message string    `json:"message,omitempty"`
	}
	l, err := api.s.CreateLock(r.Context(), a, q.Path)
	if locked, ok := errors.AsType[*errLocked](err); ok {
		return answer(w, r, http.StatusConflict, made{newLock(&locked.by), locked.Error()})
	}
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusCreated, made{Lock: newLock(l)})
}

// POST /{owner}/{repo}/info/lfs/locks/verify
//
// VerifyLocks answers the locks of the caller and those of others, in pages, before a push. Error: 403.
func (api *API) VerifyLocks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var q struct {
		Cursor string `json:"cursor"`
		Limit  int64  `json:"limit"`
	}
	if err := decode(r, &q); err != nil {
		return err
	}
	list, next, err := api.s.page(r.Context(), a, lockFilter{Limit: max(q.Limit, 0)}, q.Cursor)
	if err != nil {
		return err
	}
	out := struct {
		Ours   []*lockJSON `json:"ours"`
		Theirs []*lockJSON `json:"theirs"`
		Next   string      `json:"next_cursor,omitempty"`
	}{Ours: []*lockJSON{}, Theirs: []*lockJSON{}, Next: next}
	for n := range list {
		if list[n].OwnerID == account.IDOf(a.Caller) {
			out.Ours = append(out.Ours, newLock(&list[n]))
		} else {
			out.Theirs = append(out.Theirs, newLock(&list[n]))
		}
	}
	return answer(w, r, http.StatusOK, out)
}

// POST /{owner}/{repo}/info/lfs/locks/{id}/unlock
//
// Unlock removes a lock: the caller's own, or with force that of somebody else, for those who maintain the repository.
// Errors: 403, 404.
func (api *API) Unlock(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var q struct {
		Force bool `json:"force"`
	}
	if err := decode(r, &q); err != nil {
		return err
	}
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	l, err := api.s.Unlock(r.Context(), a, id, q.Force)
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, struct {
		Lock *lockJSON `json:"lock"`
	}{newLock(l)})
}

package account

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/web"
)

// API answers the routes of accounts. The route table checks that someone is
// signed in where a route needs it; what more it takes, the operations check.
type API struct{ s *Service }

// NewAPI returns the handlers.
func NewAPI(s *Service) *API { return &API{s: s} }

// GET /user
//
// GetSelf answers the caller's own account in its private form.
func (a *API) GetSelf(w http.ResponseWriter, r *http.Request) error {
	caller := CallerFrom(r.Context())
	me, err := a.s.Self(r.Context(), caller)
	if err != nil {
		return err
	}
	web.LastModified(w, me.UpdatedAt.Time())
	return web.JSON(w, r, http.StatusOK, newPrivateUser(me, web.From(r.Context()), caller))
}

// PATCH /user
//
// UpdateSelf changes the caller's own profile: name, email, blog, company,
// location, bio. Null and an empty text take a value away. Errors: 422.
func (a *API) UpdateSelf(w http.ResponseWriter, r *http.Request) error {
	caller := CallerFrom(r.Context())
	o, err := web.ReadObject(r, userResource)
	if err != nil {
		return err
	}
	e := readEdit(o)
	o.Fixed("hireable", false)
	o.Fixed("twitter_username", "")
	if err := o.Err(); err != nil {
		return err
	}
	me, err := a.s.EditSelf(r.Context(), caller, e)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPrivateUser(me, web.From(r.Context()), caller))
}

// GET /users/{username}
//
// GetUser answers a person or an organization in the public form. Errors: 404.
func (a *API) GetUser(w http.ResponseWriter, r *http.Request) error {
	caller := CallerFrom(r.Context())
	u, err := a.s.Get(r.Context(), caller, web.Param(r, "username"))
	if err != nil {
		return err
	}
	web.LastModified(w, u.UpdatedAt.Time())
	return web.JSON(w, r, http.StatusOK, newFullUser(u, web.From(r.Context()), caller))
}

// GET /users
//
// ListUsers lists all accounts by id, people and organizations alike, beginning
// after the id in since; the Link header names the next page only, as GitHub's.
func (a *API) ListUsers(w http.ResponseWriter, r *http.Request) error {
	list, err := a.since(w, r, accountsAfter)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, NewSimples(list, web.From(r.Context())))
}

// since reads the requested page of a list ordered by id, and links the next one.
func (a *API) since(
	w http.ResponseWriter, r *http.Request, read func(tx *db.Tx, since ID, limit int64) ([]*Account, error),
) (list []*Account, err error) {
	since, size := ID(web.ReadSince(r)), web.ReadPage(r).Size
	list, err = db.Get(r.Context(), a.s.db, func(tx *db.Tx) ([]*Account, error) {
		return read(tx, since, size+1)
	})
	return web.CutSince(w, r, list, func(a *Account) ID { return a.ID }), err
}

// GET /user/{account_id}
//
// GetByID answers a person or an organization in the public form by its id, which stays
// when the login changes. Errors: 404.
func (a *API) GetByID(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "account_id")
	if err != nil {
		return err
	}
	u, err := a.s.findByID(r.Context(), ID(id))
	if err != nil {
		return err
	}
	web.LastModified(w, u.UpdatedAt.Time())
	return web.JSON(w, r, http.StatusOK, newFullUser(u, web.From(r.Context()), CallerFrom(r.Context())))
}

package account

import (
	"context"
	"errors"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// PUT /users/{username}/suspended
//
// SuspendUser ends the use of an account, for site administrators. A reason
// in the body is not kept. Errors: 404, 403 for oneself.
func (a *API) SuspendUser(w http.ResponseWriter, r *http.Request) error {
	return a.changeUser(w, r, a.s.Suspend)
}

// DELETE /users/{username}/suspended
//
// UnsuspendUser ends a suspension. Errors: 404, 403 for oneself.
func (a *API) UnsuspendUser(w http.ResponseWriter, r *http.Request) error {
	return a.changeUser(w, r, a.s.Unsuspend)
}

// PUT /users/{username}/site_admin
//
// PromoteUser turns a user into a site administrator. Errors: 404, 403 for oneself.
func (a *API) PromoteUser(w http.ResponseWriter, r *http.Request) error {
	return a.changeUser(w, r, a.s.Promote)
}

// DELETE /users/{username}/site_admin
//
// DemoteUser turns a site administrator into an ordinary user. Errors: 404, 403 for oneself.
func (a *API) DemoteUser(w http.ResponseWriter, r *http.Request) error {
	return a.changeUser(w, r, a.s.Demote)
}

func (a *API) changeUser(w http.ResponseWriter, r *http.Request,
	change func(context.Context, *Caller, string) (*Account, error),
) error {
	if _, err := change(r.Context(), CallerFrom(r.Context()), web.Param(r, "username")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /admin/users
//
// CreateUser registers a user, for site administrators: login, email, suspended. The
// address counts for commits once the operator has verified it (decision 64). Errors: 422.
func (a *API) CreateUser(w http.ResponseWriter, r *http.Request) error {
	o, err := web.ReadObject(r, "User")
	if err != nil {
		return err
	}
	o.Require("login")
	n := NewUser{Login: o.String("login", 0).Or(""), Email: o.String("email", MaxLine).Or(""),
		Suspended: o.Bool("suspended").Or(false), By: CallerFrom(r.Context())}
	if err := o.Err(); err != nil {
		return err
	}
	made, err := a.s.AddUser(r.Context(), n)
	if err != nil {
		return err
	}
	payload := NewSimple(made, web.From(r.Context()))
	return web.Created(w, r, payload.URL, payload)
}

// DELETE /admin/users/{username}
//
// DeleteUser removes a user, for site administrators. What it wrote becomes ghost's. Errors:
// 404, 403 for oneself, 422 while it owns repositories or is the last owner of an
// organization.
func (a *API) DeleteUser(w http.ResponseWriter, r *http.Request) error {
	err := a.s.Delete(r.Context(), CallerFrom(r.Context()), User, web.Param(r, "username"))
	if errs.Is(err, errs.NotFound) {
		return errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /admin/organizations
//
// CreateOrg registers an organization, for site administrators: login, admin, who is its
// first owner, and profile_name. Errors: 422.
func (a *API) CreateOrg(w http.ResponseWriter, r *http.Request) error {
	o, err := web.ReadObject(r, orgResource)
	if err != nil {
		return err
	}
	o.Require("login", "admin")
	n := NewOrg{Login: o.String("login", 0).Or(""), Owner: o.String("admin", 0).Or(""),
		Name: o.String("profile_name", MaxLine).Or(""), By: CallerFrom(r.Context())}
	if err := o.Err(); err != nil {
		return err
	}
	made, err := a.s.FoundOrg(r.Context(), n)
	if err != nil {
		return err
	}
	payload := newSimpleOrg(made, web.From(r.Context()))
	return web.Created(w, r, payload.URL, payload)
}

// PATCH /admin/users/{username}
//
// RenameUser changes the login of a user, for site administrators, at once. The old one
// redirects requests for repositories. The status is GitHub Enterprise's, where a job does
// it. Errors: 404, 422.
func (a *API) RenameUser(w http.ResponseWriter, r *http.Request) error {
	return a.rename(w, r, User, "username", "/users/")
}

// PATCH /admin/organizations/{org}
//
// RenameOrg is RenameUser for an organization. Errors: 404, 422.
func (a *API) RenameOrg(w http.ResponseWriter, r *http.Request) error {
	return a.rename(w, r, Organization, "org", "/orgs/")
}

func (a *API) rename(w http.ResponseWriter, r *http.Request, kind Kind, param, address string) error {
	o, err := web.ReadObject(r, kind.String())
	if err != nil {
		return err
	}
	o.Require("login")
	login := o.String("login", 0).Or("")
	if err := o.Err(); err != nil {
		return err
	}
	renamed, err := a.s.ChangeLogin(r.Context(), CallerFrom(r.Context()), kind, web.Param(r, param), login)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusAccepted, map[string]string{
		"message": "Renamed.", "url": web.From(r.Context()).API(address + renamed.Login),
	})
}

// asField turns an error with a message into one about a field (decision 15).
func asField(err error, resource, field string) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Invalid && e.Kind != errs.NotFound || len(e.Fields) > 0 {
		return err
	}
	return errs.Validation(errs.Field{Resource: resource, Field: field, Code: errs.Custom,
		Message: e.Message})
}

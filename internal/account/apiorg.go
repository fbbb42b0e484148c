package account

import (
	"net/http"

	"arbor/internal/web"
)

// GET /orgs/{org}
//
// GetOrg answers an organization; its members see more of it. Errors: 404.
func (a *API) GetOrg(w http.ResponseWriter, r *http.Request) error {
	org, may, err := a.s.Org(r.Context(), CallerFrom(r.Context()), web.Param(r, "org"))
	if err != nil {
		return err
	}
	web.LastModified(w, org.UpdatedAt.Time())
	return web.JSON(w, r, http.StatusOK, newFullOrg(org, web.From(r.Context()), may, CallerFrom(r.Context())))
}

// PATCH /orgs/{org}
//
// UpdateOrg changes an organization, for its owners: name, description, email,
// company, blog, location, billing_email, default_repository_permission (read, write, admin
// or none), what members may create and fork, and two_factor_requirement_enabled. Errors: 404, 403, 422.
func (a *API) UpdateOrg(w http.ResponseWriter, r *http.Request) error {
	caller, login := CallerFrom(r.Context()), web.Param(r, "org")
	if err := a.s.CheckOwner(r.Context(), caller, login); err != nil {
		return err
	}
	o, err := web.ReadOptional(r, orgResource) // Terraform sends null
	if err != nil {
		return err
	}
	e := readEdit(o)
	fixedOfOrg(o)
	if err := o.Err(); err != nil {
		return err
	}
	org, err := a.s.EditOrg(r.Context(), caller, login, e)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newFullOrg(org, web.From(r.Context()),
		OrgAccess{Member: true, Owner: true}, caller))
}

// DELETE /orgs/{org}
//
// DeleteOrg deletes an organization, for its owners. What it wrote becomes ghost's. GitHub answers before it
// is done, and so with 202. Errors: 404, 403, 422 while it owns repositories or Apps.
func (a *API) DeleteOrg(w http.ResponseWriter, r *http.Request) error {
	if err := a.s.DeleteOrg(r.Context(), CallerFrom(r.Context()), web.Param(r, "org")); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusAccepted, struct{}{})
}

// GET /organizations
//
// ListAllOrgs lists all organizations by id, beginning after the id in since; the Link
// header names the next page only, as GitHub's.
func (a *API) ListAllOrgs(w http.ResponseWriter, r *http.Request) error {
	list, err := a.since(w, r, orgsAfter)
	if err != nil {
		return err
	}
	out := make([]simpleOrg, len(list))
	for i, org := range list {
		out[i] = newSimpleOrg(org, web.From(r.Context()))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /users/{username}/orgs
//
// ListUserOrgs lists the organizations to which a user belongs for everyone to
// see; all of them for the user. Errors: 404.
func (a *API) ListUserOrgs(w http.ResponseWriter, r *http.Request) error {
	return a.listOrgs(w, r, web.Param(r, "username"))
}

// GET /user/orgs
//
// ListOwnOrgs lists the organizations to which the caller belongs.
func (a *API) ListOwnOrgs(w http.ResponseWriter, r *http.Request) error {
	return a.listOrgs(w, r, CallerFrom(r.Context()).Login)
}

func (a *API) listOrgs(w http.ResponseWriter, r *http.Request, login string) error {
	p, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := a.s.OrgsOf(r.Context(), CallerFrom(r.Context()), login, p)
	if err != nil {
		return err
	}
	out := make([]simpleOrg, len(list))
	for i, m := range list {
		out[i] = newSimpleOrg(m.Org, info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

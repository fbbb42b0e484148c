// Package lacking answers for features of GitHub that this server does not have, where clients only ask
// whether there is anything: Actions, and secrets and variables of its kin. The answers are those that GitHub
// gives for a repository or organization that has none of it, to those who may read them there.
//
// Nothing is stored. One thing of a list, and whatever writes, has no route here: package server answers with
// a 404 or 405 that names the address.
package lacking

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of features that are not there.
type API struct {
	db    *db.DB
	repos *repo.Service
}

// NewAPI returns the handlers.
func NewAPI(d *db.DB, repos *repo.Service) *API { return &API{d, repos} }

// NoneOf answers with an empty page of a list whose rows are in the member name.
func NoneOf(w http.ResponseWriter, r *http.Request, name string) error {
	web.ReadPage(r) // an empty list has one page, whatever its size
	return web.JSON(w, r, http.StatusOK, map[string]any{"total_count": 0, name: []any{}})
}

// GET /repos/{owner}/{repo}/actions/artifacts
// GET /repos/{owner}/{repo}/actions/caches
// GET /repos/{owner}/{repo}/actions/organization-secrets
// GET /repos/{owner}/{repo}/actions/organization-variables
// GET /repos/{owner}/{repo}/actions/runners
// GET /repos/{owner}/{repo}/actions/runs
// GET /repos/{owner}/{repo}/actions/secrets
// GET /repos/{owner}/{repo}/actions/variables
// GET /repos/{owner}/{repo}/actions/workflows
// GET /repos/{owner}/{repo}/codespaces/secrets
// GET /repos/{owner}/{repo}/dependabot/secrets
//
// none lists nothing of a repository.
func (*API) none(name string) repo.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *repo.Access) error { return NoneOf(w, r, name) }
}

// GET /orgs/{org}/actions/runner-groups
// GET /orgs/{org}/actions/runners
// GET /orgs/{org}/actions/secrets
// GET /orgs/{org}/actions/variables
// GET /orgs/{org}/dependabot/secrets
//
// noneOfOrg lists nothing of an organization, to its owners. Errors: 403, 404.
func (api *API) noneOfOrg(name string) web.Handler {
	return api.ofOrg(func(w http.ResponseWriter, r *http.Request) error { return NoneOf(w, r, name) })
}

// ofOrg returns a handler for the owners of the organization in the address.
func (api *API) ofOrg(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := api.db.Read(r.Context(), func(tx *db.Tx) error {
			_, err := account.OwnedOrg(tx, account.CallerFrom(r.Context()), web.Param(r, "org"))
			return err
		})
		if err != nil {
			return err
		}
		return h(w, r)
	}
}

// GET /repos/{owner}/{repo}/actions/cache/usage
//
// CacheUsage returns what caches take: nothing.
func (*API) CacheUsage(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return web.JSON(w, r, http.StatusOK, struct {
		FullName string `json:"full_name"`
		Size     int64  `json:"active_caches_size_in_bytes"`
		Count    int64  `json:"active_caches_count"`
	}{FullName: a.Owner.Login + "/" + a.Name})
}

// GET /orgs/{org}/actions/cache/usage
//
// CacheUsageOfOrg returns what the caches of an organization take: nothing.
func (*API) CacheUsageOfOrg(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, r, http.StatusOK, struct {
		Count int64 `json:"total_active_caches_count"`
		Size  int64 `json:"total_active_caches_size_in_bytes"`
	}{})
}

// GET /repos/{owner}/{repo}/actions/permissions
// GET /repos/{owner}/{repo}/private-vulnerability-reporting
//
// Disabled says that a feature is off.
func (*API) Disabled(w http.ResponseWriter, r *http.Request, _ *repo.Access) error {
	return web.JSON(w, r, http.StatusOK, struct {
		Enabled bool `json:"enabled"`
	}{})
}

// GET /orgs/{org}/actions/permissions
//
// PermissionsOfOrg says that no repository of the organization runs Actions.
func (*API) PermissionsOfOrg(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, r, http.StatusOK, struct {
		Repositories string `json:"enabled_repositories"`
	}{"none"})
}

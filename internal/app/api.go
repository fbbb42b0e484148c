package app

import (
	"encoding/json"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about Apps.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// signer returns the id of the App that signed the request, which the route requires.
func signer(r *http.Request) account.AppID { return account.CallerFrom(r.Context()).SignedApp }

// GET /app
//
// GetSelf answers the App that signed the request. Error: 401.
func (api *API) GetSelf(w http.ResponseWriter, r *http.Request) error {
	var n int64
	a, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (a *App, err error) {
		if a, err = byID(tx, signer(r)); err == nil {
			n, err = countInstallations(tx, a.ID)
		}
		return a, err
	})
	if err != nil {
		return err
	}
	p := JSON(a, web.From(r.Context()))
	p.Installations = &n
	return web.JSON(w, r, http.StatusOK, p)
}

// GET /apps/{app_slug}
//
// Get answers an App: a public one to everybody, others to their owners, including owners of the
// organization, to site administrators, and to the App. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	a, err := api.s.Offered(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "app_slug"))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, JSON(a, web.From(r.Context())))
}

// POST /app-manifests/{code}/conversions
//
// Convert answers the App that somebody made of a manifest in a browser with its keys, for the code that the
// browser was led back with: once, within an hour. The code is all that it wants of its caller. Error: 404.
func (api *API) Convert(w http.ResponseWriter, r *http.Request) error {
	made, err := api.s.Convert(r.Context(), web.Param(r, "code"))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	p := convertedPayload{Payload: JSON(made.App, web.From(r.Context())), ClientSecret: made.Client,
		WebhookSecret: made.Secret, PEM: made.PrivateKey}
	return web.JSON(w, r, http.StatusCreated, p)
}

// GET /app/installations
//
// List answers a page of the App's installations, the oldest first; since leaves out those that were not
// changed since then. Errors: 401, 422.
func (api *API) List(w http.ResponseWriter, r *http.Request) error {
	since, err := web.QueryTime(r, "Installation", "since")
	if err != nil {
		return err
	}
	list, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) ([]*Installation, error) {
		return installationsWhere(tx, `WHERE i.app_id = $1 AND i.updated_at >= $2 ORDER BY i.id`,
			signer(r), max(int64(db.FromTime(since)), 0))
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newInstallations(web.Cut(w, r, list), web.From(r.Context())))
}

// installationID reads {installation_id}. Error: 404.
func installationID(r *http.Request) (account.InstallationID, error) {
	n, err := web.Number(r, "installation_id")
	return account.InstallationID(n), err
}

// GET /app/installations/{installation_id}
//
// GetInstallation answers one of the App's installations. Errors: 401, 404.
func (api *API) GetInstallation(w http.ResponseWriter, r *http.Request) error {
	id, err := installationID(r)
	if err != nil {
		return err
	}
	return api.answer(w, r, func(tx *db.Tx) (*Installation, error) {
		i, err := InstallationByID(tx, id)
		if err == nil && i.App.ID != signer(r) {
			err = errs.Absent()
		}
		return i, err
	})
}

// answer answers the installation that find finds.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, find func(*db.Tx) (*Installation, error),
) error {
	i, err := db.Get(r.Context(), api.s.db, find)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, InstallationJSON(i, web.From(r.Context())))
}

// GET /repos/{owner}/{repo}/installation
//
// OfRepo answers the installation by which the App reaches a repository. A repository that it does not reach
// is absent. Errors: 401, 404.
func (api *API) OfRepo(w http.ResponseWriter, r *http.Request) error {
	everywhere := &account.Caller{SiteAdmin: true}
	found, err := api.s.repos.Find(r.Context(), everywhere, web.Param(r, "owner"), web.Param(r, "repo"))
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	at := &repo.Repo{}
	if err == nil {
		at = found.Repo
	}
	i, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Installation, error) {
		return installationFor(tx, signer(r), at)
	})
	if err != nil {
		return err
	}
	if found.Moved {
		return repo.Redirect(w, r, found.Repo)
	}
	return web.JSON(w, r, http.StatusOK, InstallationJSON(i, web.From(r.Context())))
}

// GET /orgs/{org}/installation
//
// OfOrg answers the App's installation on an organization. Errors: 401, 404.
func (api *API) OfOrg(w http.ResponseWriter, r *http.Request) error {
	return api.onAccount(w, r, web.Param(r, "org"), account.Organization)
}

// GET /users/{username}/installation
//
// OfUser answers the App's installation on a user. Errors: 401, 404.
func (api *API) OfUser(w http.ResponseWriter, r *http.Request) error {
	return api.onAccount(w, r, web.Param(r, "username"), account.User)
}

func (api *API) onAccount(w http.ResponseWriter, r *http.Request, login string, kind account.Kind) error {
	return api.answer(w, r, func(tx *db.Tx) (*Installation, error) {
		at, err := account.ByLogin(tx, login)
		if err == nil && at.Kind != kind {
			err = errs.Absent()
		}
		if err != nil {
			return nil, err
		}
		return installationOn(tx, signer(r), at.ID)
	})
}

// onInstallation runs a change of the App's installation that {installation_id} names, and answers 204.
func (api *API) onInstallation(
	w http.ResponseWriter, r *http.Request, change func(id account.InstallationID, appID account.AppID) error,
) error {
	id, err := installationID(r)
	if err == nil {
		err = change(id, signer(r))
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /app/installations/{installation_id}
//
// Uninstall removes an installation with its tokens. Errors: 401, 404.
func (api *API) Uninstall(w http.ResponseWriter, r *http.Request) error {
	return api.onInstallation(w, r, func(id account.InstallationID, appID account.AppID) error {
		return api.s.Uninstall(r.Context(), appID, id, account.CallerFrom(r.Context()))
	})
}

// PUT /app/installations/{installation_id}/suspended
//
// Suspend suspends an installation: its tokens stop working. Errors: 401, 404.
func (api *API) Suspend(w http.ResponseWriter, r *http.Request) error {
	return api.onInstallation(w, r, func(id account.InstallationID, appID account.AppID) error {
		return api.s.Suspend(r.Context(), appID, id, account.CallerFrom(r.Context()))
	})
}

// DELETE /app/installations/{installation_id}/suspended
//
// Unsuspend ends the suspension of an installation by the App itself. Errors: 401; 403 where the account's
// owner or the operator suspended it; 404.
func (api *API) Unsuspend(w http.ResponseWriter, r *http.Request) error {
	return api.onInstallation(w, r, func(id account.InstallationID, appID account.AppID) error {
		return api.s.Unsuspend(r.Context(), appID, id, account.CallerFrom(r.Context()))
	})
}

// POST /app/installations/{installation_id}/access_tokens
//
// CreateToken creates a token of an installation that lives for an hour; the body may limit it to some
// repositories and permissions: an empty list is for none. Errors: 401, 403 while the installation is
// suspended, 404, 422 for more than it has.
func (api *API) CreateToken(w http.ResponseWriter, r *http.Request) error {
	id, err := installationID(r)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, "Installation")
	if err != nil {
		return err
	}
	want, err := readAsked(body)
	if err != nil {
		return err
	}
	t, err := api.s.createToken(r.Context(), account.CallerFrom(r.Context()), id, want)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newToken(t, web.From(r.Context())))
}

// readAsked reads the limits that a request sets for a token. Errors: 422.
func readAsked(body *web.Object) (want asked, err error) {
	names := body.Strings("repositories", maxRepos, 100)
	ids := readIDs(body, "repository_ids")
	want.names, want.ids, want.narrow = names.Value, ids.Value, names.Given() || ids.Given() // empty: for none
	if len(want.names)+len(want.ids) > maxRepos {
		body.Wrong("repositories", errs.InvalidField, "a token is for 500 repositories at most")
	}
	levels := map[string]string{}
	raw := body.Raw("permissions")
	if given(raw) && json.Unmarshal(raw, &levels) != nil {
		body.Wrong("permissions", errs.InvalidField, `"permissions" must be an object of texts`)
	}
	if err := body.Err(); err != nil {
		return want, err
	}
	if given(raw) { // an empty object requests no permissions
		want.permissions, err = scope.NewPermissions(levels)
	}
	return want, err
}

// readIDs reads an array of ids.
func readIDs(body *web.Object, field string) (v web.Opt[[]repo.ID]) {
	raw := body.Raw(field)
	if !given(raw) {
		return v
	}
	v.Set = true
	if json.Unmarshal(raw, &v.Value) != nil || len(v.Value) > maxRepos {
		body.Wrong(field, errs.InvalidField, field+" must be an array of at most 500 integers")
	}
	return v
}

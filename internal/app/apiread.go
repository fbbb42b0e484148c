package app

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/web"
)

// reposPayload is a page of an installation's repositories.
type reposPayload struct {
	TotalCount          int64           `json:"total_count"`
	RepositorySelection string          `json:"repository_selection"`
	Repositories        []*repo.Payload `json:"repositories"`
}

// GET /installation/repositories
//
// ListRepos answers a page of the repositories that an installation's token reaches. Error: 403 for other
// tokens.
func (api *API) ListRepos(w http.ResponseWriter, r *http.Request) error {
	caller := account.CallerFrom(r.Context())
	if caller.App == 0 {
		return errs.New(errs.Forbidden,
			"You must authenticate with an installation access token in order to list repositories for an installation.")
	}
	return api.listRepos(w, r, func(p web.Page) (i *Installation, found []*repo.Access, total int64, err error) {
		err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
			if i, err = InstallationByID(tx, caller.InstallationOf()); err != nil {
				return err
			}
			found, total, err = list.Installed(tx, caller, i.Account.ID, i.ID, p)
			return err
		})
		return i, found, total, err
	})
}

// listRepos answers a page of the repositories that an installation reaches.
func (api *API) listRepos(
	w http.ResponseWriter, r *http.Request, find func(web.Page) (*Installation, []*repo.Access, int64, error),
) error {
	p := web.ReadPage(r)
	i, found, total, err := find(p)
	if err != nil {
		return err
	}
	out := reposPayload{TotalCount: total, RepositorySelection: i.Selection(),
		Repositories: newRepos(found, web.From(r.Context()))}
	if account.CallerFrom(r.Context()).NarrowedToken() {
		out.RepositorySelection = "selected"
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// DELETE /installation/token
//
// EndToken ends the installation's token with which it is asked. Error: 403 for other tokens.
func (api *API) EndToken(w http.ResponseWriter, r *http.Request) error {
	caller := account.CallerFrom(r.Context())
	if caller.App == 0 {
		return errs.New(errs.Forbidden,
			"You must authenticate with an installation access token in order to revoke it.")
	}
	if err := api.s.db.WriteAs(r.Context(), caller, func(tx *db.Tx) error {
		return token.RevokeInstallationToken(tx, caller)
	}); err != nil {
		return err
	}
	return web.NoContent(w)
}

// installationsPayload is a page of installations.
type installationsPayload struct {
	TotalCount    int64                  `json:"total_count"`
	Installations []*InstallationPayload `json:"installations"`
}

func answerInstallations(w http.ResponseWriter, r *http.Request, list []*Installation) error {
	out := installationsPayload{TotalCount: int64(len(list))}
	out.Installations = newInstallations(web.Cut(w, r, list), web.From(r.Context()))
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /orgs/{org}/installations
//
// ListOfOrg answers a page of the Apps' installations on an organization, for its owners. Errors: 403, 404.
func (api *API) ListOfOrg(w http.ResponseWriter, r *http.Request) error {
	list, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) ([]*Installation, error) {
		org, err := account.OwnedOrg(tx, account.CallerFrom(r.Context()), web.Param(r, "org"))
		if err != nil {
			return nil, err
		}
		return installationsWhere(tx, `WHERE i.account_id = $1 ORDER BY i.id`, org.ID)
	})
	if err != nil {
		return err
	}
	return answerInstallations(w, r, list)
}

// GET /user/installations
//
// ListOwn answers a page of the installations on the caller's account and organizations, the oldest first.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	list, err := api.s.Known(r.Context(), account.CallerFrom(r.Context()))
	if err != nil {
		return err
	}
	return answerInstallations(w, r, list)
}

// GET /user/installations/{installation_id}/repositories
//
// ListOwnRepos answers a page of the repositories that an installation reaches and on which the caller has a
// role. Error: 404.
func (api *API) ListOwnRepos(w http.ResponseWriter, r *http.Request) error {
	id, err := installationID(r)
	if err != nil {
		return err
	}
	return api.listRepos(w, r, func(p web.Page) (*Installation, []*repo.Access, int64, error) {
		return api.s.ReposOf(r.Context(), account.CallerFrom(r.Context()), id, p)
	})
}

// PUT /user/installations/{installation_id}/repositories/{repository_id}
//
// AddRepo adds a repository to an installation for selected ones, for its administrators. Errors: 403,
// 404, 422.
func (api *API) AddRepo(w http.ResponseWriter, r *http.Request) error {
	return api.choose(w, r, api.s.AddRepo)
}

// DELETE /user/installations/{installation_id}/repositories/{repository_id}
//
// RemoveRepo removes a repository from an installation on some; the caller administers it. Errors: 403, 404,
// 422.
func (api *API) RemoveRepo(w http.ResponseWriter, r *http.Request) error {
	return api.choose(w, r, api.s.RemoveRepo)
}

func (api *API) choose(w http.ResponseWriter, r *http.Request,
	change func(context.Context, *account.Caller, account.InstallationID, repo.ID) error,
) error {
	repoID, err := web.Number(r, "repository_id")
	if err != nil {
		return err
	}
	id, err := installationID(r)
	if err != nil {
		return err
	}
	if err := change(r.Context(), account.CallerFrom(r.Context()), id, repo.ID(repoID)); err != nil {
		return err
	}
	return web.NoContent(w)
}

package app

import (
	"net/http"

	"arbor/internal/account"
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
	return api.listRepos(w, r, func(tx *db.Tx) (*Installation, error) {
		return InstallationByID(tx, caller.InstallationOf())
	})
}

// listRepos answers a page of the repositories that the caller and an installation reach.
func (api *API) listRepos(
	w http.ResponseWriter, r *http.Request, find func(*db.Tx) (*Installation, error),
) error {
	p := web.ReadPage(r)
	caller := account.CallerFrom(r.Context())
	var found []*repo.Access
	var out reposPayload
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		i, err := find(tx)
		if err != nil {
			return err
		}
		out.RepositorySelection = i.Selection()
		found, out.TotalCount, err = list.Installed(tx, caller, i.Account.ID, i.ID, p)
		return err
	})
	if err != nil {
		return err
	}
	if caller.NarrowedToken() {
		out.RepositorySelection = "selected"
	}
	out.Repositories = newRepos(found, web.From(r.Context()))
	web.Link(w, r, p, out.TotalCount)
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
	if err := api.s.accounts.RevokeInstallationToken(r.Context(), caller); err != nil {
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
	list, err := read(r.Context(), api.s.db, func(tx *db.Tx) ([]*Installation, error) {
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

// ofUser is the condition for installations that a user, $1, knows of: on the own account, and on the
// organizations to which the user belongs.
const ofUser = `(i.account_id = $1 OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = i.account_id AND m.user_id = $1))`

// GET /user/installations
//
// ListOwn answers a page of the installations on the caller's account and organizations, the oldest first.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	list, err := read(r.Context(), api.s.db, func(tx *db.Tx) ([]*Installation, error) {
		return installationsWhere(tx, `WHERE `+ofUser+` ORDER BY i.id`, account.CallerFrom(r.Context()).ID)
	})
	if err != nil {
		return err
	}
	return answerInstallations(w, r, list)
}

// own finds the installation that {installation_id} names, if the caller knows of it. Error: 404.
func own(tx *db.Tx, r *http.Request) (*Installation, error) {
	id, err := installationID(r)
	if err != nil {
		return nil, err
	}
	return oneInstallation(tx, `WHERE `+ofUser+` AND i.id = $2`, account.CallerFrom(r.Context()).ID, id)
}

// GET /user/installations/{installation_id}/repositories
//
// ListOwnRepos answers a page of the repositories that an installation reaches and on which the caller has a
// role. Error: 404.
func (api *API) ListOwnRepos(w http.ResponseWriter, r *http.Request) error {
	return api.listRepos(w, r, func(tx *db.Tx) (*Installation, error) { return own(tx, r) })
}

// PUT /user/installations/{installation_id}/repositories/{repository_id}
//
// AddRepo adds a repository to an installation for selected ones, for its administrators. Errors: 403,
// 404, 422.
func (api *API) AddRepo(w http.ResponseWriter, r *http.Request) error {
	return api.choose(w, r, api.s.addTo)
}

// DELETE /user/installations/{installation_id}/repositories/{repository_id}
//
// RemoveRepo takes a repository from an installation for some, by who administrates it. Errors: 403, 404,
// 422.
func (api *API) RemoveRepo(w http.ResponseWriter, r *http.Request) error {
	return api.choose(w, r, api.s.removeFrom)
}

// choose changes what an installation reaches. The rights are asked in the transaction.
func (api *API) choose(
	w http.ResponseWriter, r *http.Request, change func(*db.Tx, *Installation, repo.ID, account.ID) error,
) error {
	repoID, err := web.Number(r, "repository_id")
	if err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	err = api.s.db.Write(r.Context(), func(tx *db.Tx) error {
		i, err := own(tx, r)
		if err != nil {
			return err
		}
		if i, err = holdInstallation(tx, i.ID); err != nil {
			return err
		}
		found, err := repo.VisibleByID(tx, caller, []repo.ID{repo.ID(repoID)})
		switch {
		case err != nil:
			return err
		case len(found) == 0 || found[0].OwnerID != i.Account.ID:
			return errs.Absent()
		}
		if err := found[0].Require(account.Admin); err != nil {
			return err
		}
		return change(tx, i, found[0].ID, caller.ID)
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

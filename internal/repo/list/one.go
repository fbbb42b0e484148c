package list

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}
//
// Get answers the full form of a repository.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	web.LastModified(w, a.UpdatedAt.Time())
	return api.repos.Answer(w, r, http.StatusOK, a)
}

// GET /repositories/{repository_id}
//
// GetByID answers the full form of a repository by its id, which stays when its name or
// owner changes.
func (api *API) GetByID(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "repository_id")
	if err != nil {
		return err
	}
	a, err := api.repos.FindByID(r.Context(), account.CallerFrom(r.Context()), repo.ID(id))
	if err != nil {
		return err
	}
	return api.Get(w, r, a)
}

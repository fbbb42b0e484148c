package deletion

import (
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the requests that delete labels and milestones.
type API struct {
	s     *Service
	repos *repo.Service
}

// NewAPI makes the handlers of the service.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos} }

// DELETE /repos/{owner}/{repo}/labels/{name}
//
// DeleteLabel removes a label from the repository and its issues. Errors: 404.
func (api *API) DeleteLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.DeleteLabel(r.Context(), a, web.Param(r, "name")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /repos/{owner}/{repo}/milestones/{number}
//
// DeleteMilestone removes a milestone; its issues are in none then. Errors: 404.
func (api *API) DeleteMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	if err := api.s.DeleteMilestone(r.Context(), a, n); err != nil {
		return err
	}
	return web.NoContent(w)
}

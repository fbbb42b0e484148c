package deletion

import (
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers that delete labels and milestones.
type API struct {
	s     *Service
	repos *repo.Service
}

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos} }

// DELETE /repos/{owner}/{repo}/labels/{name}
//
// DeleteLabel deletes a label and removes it from its issues. Errors: 404.
func (api *API) DeleteLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.DeleteLabel(r.Context(), a, web.Param(r, "name")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /repos/{owner}/{repo}/milestones/{number}
//
// DeleteMilestone deletes a milestone and removes its issues from it. Errors: 404.
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

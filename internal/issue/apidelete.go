package issue

import (
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// DELETE /repos/{owner}/{repo}/labels/{name}
//
// DeleteLabel removes a label from the repository and its issues. Errors: 404.
func (api *API) DeleteLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.DeleteLabel(r.Context(), a, web.Param(r, "name")); err != nil {
		return err
	}
	return web.NoContent(w)
}

package detect

import (
	"encoding/json"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API implements the HTTP handler of languages.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Routes returns the routes of languages.
func (api *API) Routes() []route.Route {
	metadata := api.s.repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	return []route.Route{metadata.Pull("GET /repos/{owner}/{repo}/languages", api.ListLanguages)}
}

// GET /repos/{owner}/{repo}/languages
//
// ListLanguages returns the number of bytes of code in each language on the default branch. It is updated
// shortly after a push.
func (api *API) ListLanguages(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var list json.RawMessage
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		list, err = languagesOf(tx, a.ID)
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, list)
}

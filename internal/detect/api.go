package detect

import (
	"context"
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
	list, err := api.s.languages(r.Context(), a)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, list)
}

// languages reads what is known of the languages, as it is stored.
func (s *Service) languages(ctx context.Context, a *repo.Access) (list json.RawMessage, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (json.RawMessage, error) { return languagesOf(tx, a.ID) })
}

// LanguagesOf is Languages for several repositories, with one statement.
func (s *Service) LanguagesOf(ctx context.Context, repos []*repo.Access) (map[repo.ID]map[string]int64, error) {
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID]string, error) {
		return languagesOfMany(tx, repo.IDsOf(repos))
	})
	out := map[repo.ID]map[string]int64{}
	for id, text := range found {
		var sizes map[string]int64
		if err == nil {
			err = json.Unmarshal([]byte(text), &sizes)
		}
		out[id] = sizes
	}
	return out, err
}

// Languages returns the number of bytes of code in each language on the default branch, as far as it was
// analyzed.
func (s *Service) Languages(ctx context.Context, a *repo.Access) (sizes map[string]int64, err error) {
	list, err := s.languages(ctx, a)
	if err == nil {
		err = json.Unmarshal(list, &sizes)
	}
	return sizes, err
}

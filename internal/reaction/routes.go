package reaction

import (
	"arbor/internal/repo"
	"arbor/internal/route"
)

// Routes returns the routes below the address of a subject. They need the same rights as the subject's
// routes.
func (api *API) Routes(on repo.Router, subject string) []route.Route {
	return []route.Route{
		on.Pull("GET "+subject+"/reactions", api.List),
		on.Pull("POST "+subject+"/reactions", api.Create),
		on.Pull("DELETE "+subject+"/reactions/{reaction_id}", api.Delete), // only the caller's own
	}
}

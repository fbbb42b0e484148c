package reaction

import (
	"arbor/internal/repo"
	"arbor/internal/route"
)

// Routes are the endpoints below the address of a subject, which find finds. They need what the subject's
// routes need.
func (api *API) Routes(on repo.Router, subject string) []route.Route {
	return []route.Route{
		on.Pull("GET "+subject+"/reactions", api.List),
		on.Pull("POST "+subject+"/reactions", api.Create),
		on.Pull("DELETE "+subject+"/reactions/{reaction_id}", api.Delete), // the caller's own
	}
}

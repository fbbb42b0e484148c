package reaction

import (
	"arbor/internal/repo"
	"arbor/internal/route"
)

// Routes are the endpoints below the address of a subject, which find finds.
func (api *API) Routes(repos *repo.Service, subject string) []route.Route {
	return []route.Route{
		repos.Route(route.Pull, "GET "+subject+"/reactions", api.List),
		repos.Route(route.Pull, "POST "+subject+"/reactions", api.Create),
		repos.Route(route.Pull, "DELETE "+subject+"/reactions/{reaction_id}", api.Delete), // the caller's own
	}
}

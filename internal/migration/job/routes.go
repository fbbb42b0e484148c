package job

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of imports. The repository is read-only while one is active, and it can be cancelled then.
func (api *API) Routes() []route.Route {
	repos := api.s.forge.Repos
	reading := repos.Router(route.Needs(scope.PublicRepo, "administration"))
	// An App cannot ask for them, since they need the right of a person.
	asking := repos.Router(route.Needs(scope.PublicRepo, "administration").ForApps(route.Never))
	return []route.Route{
		reading.Admin("GET /repos/{owner}/{repo}/import", api.Get),
		asking.Admin("PUT /repos/{owner}/{repo}/import", api.Start),
		asking.Admin("PATCH /repos/{owner}/{repo}/import", api.Restart),
		reading.OnArchived().Admin("DELETE /repos/{owner}/{repo}/import", api.Cancel),
		reading.Admin("GET /repos/{owner}/{repo}/import/authors", api.Authors),
	}
}

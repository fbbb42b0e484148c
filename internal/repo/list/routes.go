package list

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints that show repositories.
func (api *API) Routes() []route.Route {
	free, metadata := route.Needs(scope.None, route.None), route.Needs(scope.PublicRepo, "metadata")
	own := route.Needs(scope.None, "metadata").ForApps(route.Never)
	return []route.Route{
		own.SignedIn("GET /user/repos", api.ListOwn),
		metadata.ForApps(route.None).Anyone("GET /users/{username}/repos", api.ListOfUser),
		metadata.Anyone("GET /orgs/{org}/repos", api.ListOfOrg),
		free.Anyone("GET /repositories", api.ListPublic),
		metadata.Anyone("GET /repositories/{repository_id}", api.GetByID).ByNumber(),
		api.repos.Router(metadata).Pull("GET /repos/{owner}/{repo}", api.Get),
	}
}

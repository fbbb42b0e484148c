package activity

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of feeds.
func (api *API) Routes() []route.Route {
	free, code := route.Needs(scope.None, route.None), route.Needs(scope.PublicRepo, route.None)
	metadata := api.repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	contents := api.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	inOrg := route.Needs(scope.ReadOrg, route.Never)
	return []route.Route{
		free.Anyone("GET /events", api.ListPublic),
		metadata.Pull("GET /repos/{owner}/{repo}/events", api.ListOfRepo),
		contents.Pull("GET /repos/{owner}/{repo}/activity", api.ListOfBranches),
		metadata.Pull("GET /networks/{owner}/{repo}/events", api.ListOfNetwork),
		code.Anyone("GET /orgs/{org}/events", api.ListOfOrg),
		code.Anyone("GET /users/{username}/events", api.ListOfUser),
		code.Anyone("GET /users/{username}/events/public", api.ListOfUserInPublic),
		inOrg.SignedIn("GET /users/{username}/events/orgs/{org}", api.ListOfUserInOrg),
		code.Anyone("GET /users/{username}/received_events", api.ListReceived),
		code.Anyone("GET /users/{username}/received_events/public", api.ListReceivedInPublic),
	}
}

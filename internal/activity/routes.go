package activity

import "arbor/internal/route"

// Routes are the endpoints of feeds.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		route.New(route.Anyone, "GET /events", api.ListPublic),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/events", api.ListOfRepo),
		repos.Route(route.Pull, "GET /networks/{owner}/{repo}/events", api.ListOfNetwork),
		route.New(route.Anyone, "GET /orgs/{org}/events", api.ListOfOrg),
		route.New(route.Anyone, "GET /users/{username}/events", api.ListOfUser),
		route.New(route.Anyone, "GET /users/{username}/events/public", api.ListOfUserInPublic),
		route.New(route.SignedIn, "GET /users/{username}/events/orgs/{org}", api.ListOfUserInOrg),
		route.New(route.Anyone, "GET /users/{username}/received_events", api.ListReceived),
		route.New(route.Anyone, "GET /users/{username}/received_events/public", api.ListReceivedInPublic),
	}
}

package timeline

import "arbor/internal/route"

// Routes are the endpoints of events and timelines.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/events", api.List),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/timeline", api.Timeline),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/events", api.ListOfRepo),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/events/{id}", api.Get),
	}
}

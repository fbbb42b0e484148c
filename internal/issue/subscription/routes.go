package subscription

import "arbor/internal/route"

// Routes are the endpoints of subscriptions to issues.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.SignedIn, "GET /repos/{owner}/{repo}/issues/{number}/subscription", api.Get),
		repos.Route(route.SignedIn, "PUT /repos/{owner}/{repo}/issues/{number}/subscription", api.Set),
		repos.Route(route.SignedIn, "DELETE /repos/{owner}/{repo}/issues/{number}/subscription", api.Delete),
	}
}

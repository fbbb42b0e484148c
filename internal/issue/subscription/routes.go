package subscription

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of subscriptions to issues.
func (api *API) Routes() []route.Route {
	watching := api.repos.Router(route.Needs(scope.PublicRepo|scope.Notifications, route.Never))
	return []route.Route{
		watching.SignedIn("GET /repos/{owner}/{repo}/issues/{number}/subscription", api.Get),
		watching.SignedIn("PUT /repos/{owner}/{repo}/issues/{number}/subscription", api.Set),
		watching.SignedIn("DELETE /repos/{owner}/{repo}/issues/{number}/subscription", api.Delete),
	}
}

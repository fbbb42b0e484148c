package star

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of stars and watching.
func (api *API) Routes() []route.Route {
	repos, code := api.s.repos, route.Needs(scope.PublicRepo, route.None)
	metadata := repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	own := route.Needs(scope.None, route.None).ForApps(route.Never)
	stars := route.Needs(scope.PublicRepo, route.Never)
	watching := repos.Router(route.Needs(scope.PublicRepo|scope.Notifications, route.Never))
	return []route.Route{
		metadata.Pull("GET /repos/{owner}/{repo}/stargazers", api.ListStargazers),
		code.Anyone("GET /users/{username}/starred", api.ListStarred),
		repos.Router(code).Pull("GET /users/{username}/starred/{owner}/{repo}", api.CheckOf),
		own.SignedIn("GET /user/starred", api.ListOwnStarred),
		repos.Router(own).SignedIn("GET /user/starred/{owner}/{repo}", api.Check),
		// These find the repository in the statement that writes.
		stars.Route(route.Pull, "PUT /user/starred/{owner}/{repo}", api.Star).OnRepository().OnArchived(),
		stars.Route(route.Pull, "DELETE /user/starred/{owner}/{repo}", api.Unstar).OnRepository().OnArchived(),
		metadata.Pull("GET /repos/{owner}/{repo}/subscribers", api.ListSubscribers),
		watching.SignedIn("GET /repos/{owner}/{repo}/subscription", api.GetSubscription),
		watching.OnArchived().Pull("PUT /repos/{owner}/{repo}/subscription", api.SetSubscription),
		watching.OnArchived().Pull("DELETE /repos/{owner}/{repo}/subscription", api.DeleteSubscription),
		code.Anyone("GET /users/{username}/subscriptions", api.ListWatched),
		own.SignedIn("GET /user/subscriptions", api.ListOwnWatched),
	}
}

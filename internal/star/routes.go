package star

import "arbor/internal/route"

// Routes are the endpoints of stars and watching.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/stargazers", api.ListStargazers),
		route.New(route.Anyone, "GET /users/{username}/starred", api.ListStarred),
		repos.Route(route.Pull, "GET /users/{username}/starred/{owner}/{repo}", api.CheckOf),
		route.New(route.SignedIn, "GET /user/starred", api.ListOwnStarred),
		repos.Route(route.SignedIn, "GET /user/starred/{owner}/{repo}", api.Check),
		// These find the repository in the statement that writes.
		route.New(route.Pull, "PUT /user/starred/{owner}/{repo}", api.Star).OnRepository(),
		route.New(route.Pull, "DELETE /user/starred/{owner}/{repo}", api.Unstar).OnRepository(),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/subscribers", api.ListSubscribers),
		repos.Route(route.SignedIn, "GET /repos/{owner}/{repo}/subscription", api.GetSubscription),
		repos.RouteArchived(route.Pull, "PUT /repos/{owner}/{repo}/subscription", api.SetSubscription),
		repos.RouteArchived(route.Pull, "DELETE /repos/{owner}/{repo}/subscription", api.DeleteSubscription),
		route.New(route.Anyone, "GET /users/{username}/subscriptions", api.ListWatched),
		route.New(route.SignedIn, "GET /user/subscriptions", api.ListOwnWatched),
	}
}

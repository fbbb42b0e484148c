package comment

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
)

// Routes are the endpoints of comments, and of reactions to them.
func (api *API) Routes() []route.Route {
	repos := api.repos
	routes := []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/comments", api.List),
		// When locked: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/issues/{number}/comments", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/comments", api.ListOfRepo),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/comments/{id}", api.Get),
		// For others than the author: push.
		repos.Route(route.Pull, "PATCH /repos/{owner}/{repo}/issues/comments/{id}", api.Edit),
		// For others than the author: push.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/issues/comments/{id}", api.Delete),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/issues/comments/{id}/pin", api.Pin),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/comments/{id}/pin", api.Unpin),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(repos, "/repos/{owner}/{repo}/issues/comments/{id}")...)
}

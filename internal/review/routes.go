package review

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
)

// Routes are the endpoints of reviews, and reactions to their comments.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	routes := []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/comments", api.ListRepoComments),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/comments/{id}", api.GetComment),
		// For others than the author: push.
		repos.Route(route.Pull, "PATCH /repos/{owner}/{repo}/pulls/comments/{id}", api.EditComment),
		// For others than the author: push.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/pulls/comments/{id}", api.DeleteComment),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/comments", api.ListComments),
		// When locked: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls/{number}/comments", api.CreateComment),
		// When locked: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", api.Reply),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/reviews", api.List),
		// When locked: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls/{number}/reviews", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Get),
		// The caller's own.
		repos.Route(route.Pull, "PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Edit),
		// The caller's own.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Delete),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments",
			api.ListReviewComments),
		// The caller's own.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", api.Submit),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals",
			api.Dismiss),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(repos, "/repos/{owner}/{repo}/pulls/comments/{id}")...)
}

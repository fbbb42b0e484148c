package review

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of reviews, and reactions to their comments.
func (api *API) Routes() []route.Route {
	pulls := api.s.repos.Router(route.Needs(scope.PublicRepo, "pull_requests"))
	routes := []route.Route{
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/comments", api.ListRepoComments),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/comments/{id}", api.GetComment),
		// For others than the author: push.
		pulls.Pull("PATCH /repos/{owner}/{repo}/pulls/comments/{id}", api.EditComment),
		// For others than the author: push.
		pulls.Pull("DELETE /repos/{owner}/{repo}/pulls/comments/{id}", api.DeleteComment),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/comments", api.ListComments),
		// When locked: push.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/comments", api.CreateComment),
		// When locked: push.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", api.Reply),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews", api.List),
		// When locked: push.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/reviews", api.Create),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Get),
		// The caller's own.
		pulls.Pull("PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Edit),
		// The caller's own.
		pulls.Pull("DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Delete),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", api.ListReviewComments),
		// The caller's own.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", api.Submit),
		pulls.Push("PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", api.Dismiss),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(pulls, "/repos/{owner}/{repo}/pulls/comments/{id}")...)
}

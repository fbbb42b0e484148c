package review

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of reviews and of reactions to their comments.
func (api *API) Routes() []route.Route {
	// Texts can refer to anything that the caller can see in any repository.
	kept := api.answers.OfCaller
	pulls := api.s.repos.Router(route.Needs(scope.PublicRepo, "pull_requests"))
	routes := []route.Route{
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/comments", kept(api.ListRepoComments)),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/comments/{id}", kept(api.GetComment)),
		// Push for callers other than the author.
		pulls.Pull("PATCH /repos/{owner}/{repo}/pulls/comments/{id}", api.EditComment),
		// Push for callers other than the author.
		pulls.Pull("DELETE /repos/{owner}/{repo}/pulls/comments/{id}", api.DeleteComment),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/comments", kept(api.ListComments)),
		// Push if the conversation is locked.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/comments", api.CreateComment),
		// Push if the conversation is locked.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", api.Reply),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews", kept(api.List)),
		// Push if the conversation is locked.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/reviews", api.Create),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", kept(api.Get)),
		// Only the author.
		pulls.Pull("PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Edit),
		// Only the author.
		pulls.Pull("DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", api.Delete),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", kept(api.ListReviewComments)),
		// Only the author.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", api.Submit),
		pulls.Push("PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", api.Dismiss),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(pulls, "/repos/{owner}/{repo}/pulls/comments/{id}")...)
}

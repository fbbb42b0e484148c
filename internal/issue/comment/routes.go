package comment

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of comments and of reactions to them.
func (api *API) Routes() []route.Route {
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	routes := []route.Route{
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/comments", api.answers.Kept(api.List)),
		// Push if the conversation is locked.
		issues.Pull("POST /repos/{owner}/{repo}/issues/{number}/comments", api.Create),
		issues.Pull("GET /repos/{owner}/{repo}/issues/comments", api.answers.Kept(api.ListOfRepo)),
		issues.Pull("GET /repos/{owner}/{repo}/issues/comments/{id}", api.answers.Kept(api.Get)),
		// Push for callers other than the author.
		issues.Pull("PATCH /repos/{owner}/{repo}/issues/comments/{id}", api.Edit),
		// Push for callers other than the author.
		issues.Pull("DELETE /repos/{owner}/{repo}/issues/comments/{id}", api.Delete),
		issues.Push("PUT /repos/{owner}/{repo}/issues/comments/{id}/pin", api.Pin),
		issues.Push("DELETE /repos/{owner}/{repo}/issues/comments/{id}/pin", api.Unpin),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(issues, "/repos/{owner}/{repo}/issues/comments/{id}")...)
}

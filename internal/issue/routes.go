package issue

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
)

// Routes are the endpoints of issues, and of reactions to them. Comments, timelines,
// subscriptions and deletions have packages of their own.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	routes := []route.Route{
		route.New(route.SignedIn, "GET /issues", api.ListAll),
		route.New(route.SignedIn, "GET /user/issues", api.ListOwn),
		route.New(route.SignedIn, "GET /orgs/{org}/issues", api.ListOfOrg),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues", api.List),
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/issues", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}", api.Get),
		// For others than the author: push.
		repos.Route(route.Pull, "PATCH /repos/{owner}/{repo}/issues/{number}", api.Edit),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/issues/{number}/assignees", api.AddAssignees),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/assignees",
			api.RemoveAssignees),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/assignees/{assignee}",
			api.CheckIssueAssignee),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/labels", api.ListIssueLabels),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/issues/{number}/labels", api.AddIssueLabels),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/issues/{number}/labels", api.SetIssueLabels),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/labels", api.ClearIssueLabels),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}",
			api.RemoveIssueLabel),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/issues/{number}/lock", api.Lock),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/lock", api.Unlock),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/assignees", api.ListAssignees),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/assignees/{assignee}", api.CheckAssignee),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(repos, "/repos/{owner}/{repo}/issues/{number}")...)
}

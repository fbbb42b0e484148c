package issue

import (
	"slices"

	"arbor/internal/reaction"
	"arbor/internal/route"
)

// Routes are the endpoints of issues, their comments and events, and reactions to them.
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
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/assignees", api.RemoveAssignees),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/assignees/{assignee}", api.CheckIssueAssignee),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/labels", api.ListIssueLabels),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/issues/{number}/labels", api.AddIssueLabels),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/issues/{number}/labels", api.SetIssueLabels),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/labels", api.ClearIssueLabels),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}", api.RemoveIssueLabel),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/issues/{number}/lock", api.Lock),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/issues/{number}/lock", api.Unlock),
		repos.Route(route.SignedIn, "GET /repos/{owner}/{repo}/issues/{number}/subscription", api.GetSubscription),
		repos.Route(route.SignedIn, "PUT /repos/{owner}/{repo}/issues/{number}/subscription", api.SetSubscription),
		repos.Route(route.SignedIn, "DELETE /repos/{owner}/{repo}/issues/{number}/subscription", api.DeleteSubscription),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/comments", api.ListComments),
		// When locked: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/issues/{number}/comments", api.CreateComment),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/events", api.ListEvents),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/{number}/timeline", api.Timeline),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/events", api.ListRepoEvents),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/events/{id}", api.GetEvent),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/comments", api.ListRepoComments),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/issues/comments/{id}", api.GetComment),
		// For others than the author: push.
		repos.Route(route.Pull, "PATCH /repos/{owner}/{repo}/issues/comments/{id}", api.EditComment),
		// For others than the author: push.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/issues/comments/{id}", api.DeleteComment),

		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/assignees", api.ListAssignees),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/assignees/{assignee}", api.CheckAssignee),

		// These change the issues that have what is deleted.
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/labels/{name}", api.DeleteLabel),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/milestones/{number}", api.DeleteMilestone),
	}
	return slices.Concat(routes,
		reaction.NewAPI(api.s.db, api.subject).Routes(repos, "/repos/{owner}/{repo}/issues/{number}"),
		reaction.NewAPI(api.s.db, api.commentSubject).Routes(repos, "/repos/{owner}/{repo}/issues/comments/{id}"))
}

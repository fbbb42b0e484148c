package issue

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of issues and of reactions to them. Comments, timelines, subscriptions and
// deletion have their own packages.
func (api *API) Routes() []route.Route {
	own := route.Needs(scope.None, "issues").ForApps(route.Never)
	kept := api.s.answers
	issues := api.s.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	routes := []route.Route{
		own.SignedIn("GET /issues", api.ListAll),
		own.SignedIn("GET /user/issues", api.ListOwn),
		own.SignedIn("GET /orgs/{org}/issues", api.ListOfOrg),
		issues.Pull("GET /repos/{owner}/{repo}/issues", kept.Repeated(api.List)),
		issues.Pull("POST /repos/{owner}/{repo}/issues", api.Create),
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}", kept.Kept(api.Get)),
		// For callers other than the author: triage, or push to edit its texts.
		issues.Pull("PATCH /repos/{owner}/{repo}/issues/{number}", api.Edit),
		issues.Triage("POST /repos/{owner}/{repo}/issues/{number}/assignees", api.AddAssignees),
		issues.Triage("DELETE /repos/{owner}/{repo}/issues/{number}/assignees", api.RemoveAssignees),
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/assignees/{assignee}", api.CheckIssueAssignee),
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/labels", kept.Kept(api.ListIssueLabels)),
		issues.Triage("POST /repos/{owner}/{repo}/issues/{number}/labels", api.AddIssueLabels),
		issues.Triage("PUT /repos/{owner}/{repo}/issues/{number}/labels", api.SetIssueLabels),
		issues.Triage("DELETE /repos/{owner}/{repo}/issues/{number}/labels", api.ClearIssueLabels),
		issues.Triage("DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}", api.RemoveIssueLabel),
		issues.Push("PUT /repos/{owner}/{repo}/issues/{number}/lock", api.Lock),
		issues.Push("DELETE /repos/{owner}/{repo}/issues/{number}/lock", api.Unlock),
		issues.Pull("GET /repos/{owner}/{repo}/assignees", api.ListAssignees),
		issues.Pull("GET /repos/{owner}/{repo}/assignees/{assignee}", api.CheckAssignee),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(issues, "/repos/{owner}/{repo}/issues/{number}")...)
}

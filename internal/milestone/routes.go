package milestone

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of milestones, except deletion, which also changes issues: see package deletion.
func (api *API) Routes() []route.Route {
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{
		issues.Pull("GET /repos/{owner}/{repo}/milestones", api.answers.Kept(api.List)),
		issues.Push("POST /repos/{owner}/{repo}/milestones", api.Create),
		issues.Pull("GET /repos/{owner}/{repo}/milestones/{number}", api.answers.Kept(api.Get)),
		issues.Push("PATCH /repos/{owner}/{repo}/milestones/{number}", api.Edit),
		issues.Pull("GET /repos/{owner}/{repo}/milestones/{number}/labels", api.answers.Kept(api.ListLabels)),
	}
}

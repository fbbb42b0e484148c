package milestone

import "arbor/internal/route"

// Routes are the endpoints of milestones; package deletion has the one that changes issues.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/milestones", api.List),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/milestones", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/milestones/{number}", api.Get),
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/milestones/{number}", api.Edit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/milestones/{number}/labels", api.ListLabels),
	}
}

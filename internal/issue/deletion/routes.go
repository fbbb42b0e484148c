package deletion

import "arbor/internal/route"

// Routes are the endpoints that delete what issues refer to.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/labels/{name}", api.DeleteLabel),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/milestones/{number}", api.DeleteMilestone),
	}
}

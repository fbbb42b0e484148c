package deletion

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes that delete labels and milestones.
func (api *API) Routes() []route.Route {
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{
		issues.Push("DELETE /repos/{owner}/{repo}/labels/{name}", api.DeleteLabel),
		issues.Push("DELETE /repos/{owner}/{repo}/milestones/{number}", api.DeleteMilestone),
	}
}

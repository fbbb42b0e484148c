package timeline

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of events and timelines.
func (api *API) Routes() []route.Route {
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/events", api.List),
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/timeline", api.Timeline),
		issues.Pull("GET /repos/{owner}/{repo}/issues/events", api.ListOfRepo),
		issues.Pull("GET /repos/{owner}/{repo}/issues/events/{id}", api.Get),
	}
}

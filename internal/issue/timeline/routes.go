package timeline

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of events and timelines.
func (api *API) Routes() []route.Route {
	kept := api.answers
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/events", kept.Kept(api.List)),
		// It refers to issues of any repository that the caller can see.
		issues.Pull("GET /repos/{owner}/{repo}/issues/{number}/timeline", kept.OfCaller(api.Timeline)),
		issues.Pull("GET /repos/{owner}/{repo}/issues/events", kept.Kept(api.ListOfRepo)),
		issues.Pull("GET /repos/{owner}/{repo}/issues/events/{id}", kept.Kept(api.Get)),
	}
}

package label

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of labels. Packages issue and deletion have those that change issues.
func (api *API) Routes() []route.Route {
	issues := api.repos.Router(route.Needs(scope.PublicRepo, "issues"))
	return []route.Route{
		issues.Pull("GET /repos/{owner}/{repo}/labels", api.answers.Kept(api.List)),
		issues.Push("POST /repos/{owner}/{repo}/labels", api.Create),
		issues.Pull("GET /repos/{owner}/{repo}/labels/{name}", api.answers.Kept(api.Get)),
		issues.Push("PATCH /repos/{owner}/{repo}/labels/{name}", api.Edit),
	}
}

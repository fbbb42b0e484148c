package status

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of commit statuses.
func (api *API) Routes() []route.Route {
	statuses := api.s.repos.Router(route.Needs(scope.PublicRepo|scope.RepoStatus, "statuses"))
	return []route.Route{
		statuses.Pull("GET /repos/{owner}/{repo}/commits/{ref...}/status", api.Combine),
		statuses.Pull("GET /repos/{owner}/{repo}/commits/{ref...}/statuses", api.List),
		statuses.Pull("GET /repos/{owner}/{repo}/statuses/{ref...}", api.List),
		statuses.Push("POST /repos/{owner}/{repo}/statuses/{ref...}", api.Create),
	}
}

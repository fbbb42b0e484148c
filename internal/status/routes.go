package status

import "arbor/internal/route"

// Routes are the endpoints of commit statuses.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}/status", api.Combine),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}/statuses", api.List),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/statuses/{ref...}", api.List),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/statuses/{ref...}", api.Create),
	}
}

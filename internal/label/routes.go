package label

import "arbor/internal/route"

// Routes are the endpoints of labels; packages issue and deletion have those that change
// issues.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/labels", api.List),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/labels", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/labels/{name}", api.Get),
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/labels/{name}", api.Edit),
	}
}

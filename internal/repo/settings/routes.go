package settings

import "arbor/internal/route"

// Routes are the endpoints by which repositories are made, changed, handed over and deleted.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		route.New(route.SignedIn, "POST /user/repos", api.CreateOwn),
		route.New(route.SignedIn, "POST /orgs/{org}/repos", api.CreateForOrg),
		repos.RouteArchived(route.Admin, "PATCH /repos/{owner}/{repo}", api.Edit), // Edit asks itself
		repos.RouteArchived(route.Admin, "DELETE /repos/{owner}/{repo}", api.Delete),
		// and the owner
		repos.RouteArchived(route.Admin, "POST /repos/{owner}/{repo}/transfer", api.Transfer),
		repos.RouteArchived(route.Pull, "POST /repos/{owner}/{repo}/generate", api.Generate),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/topics", api.ListTopics),
		repos.Route(route.Admin, "PUT /repos/{owner}/{repo}/topics", api.SetTopics),
		repos.Route(route.Admin, "GET /repos/{owner}/{repo}/keys", api.ListKeys),
		repos.Route(route.Admin, "POST /repos/{owner}/{repo}/keys", api.AddKey),
		repos.Route(route.Admin, "GET /repos/{owner}/{repo}/keys/{key_id}", api.GetKey),
		repos.RouteArchived(route.Admin, "DELETE /repos/{owner}/{repo}/keys/{key_id}", api.RemoveKey),
	}
}

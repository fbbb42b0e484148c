package list

import "arbor/internal/route"

// Routes are the endpoints that show repositories.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.SignedIn, "GET /user/repos", api.ListOwn),
		route.New(route.Anyone, "GET /users/{username}/repos", api.ListOfUser),
		route.New(route.Anyone, "GET /orgs/{org}/repos", api.ListOfOrg),
		route.New(route.Anyone, "GET /repositories", api.ListPublic),
		route.New(route.Anyone, "GET /repositories/{repository_id}", api.GetByID).ByNumber(),
		api.repos.Route(route.Pull, "GET /repos/{owner}/{repo}", api.Get),
	}
}

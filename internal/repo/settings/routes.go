package settings

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints by which repositories are made, changed, handed over and deleted.
func (api *API) Routes() []route.Route {
	creation, free := route.Needs(scope.PublicRepo, route.Never), route.Needs(scope.None, route.None)
	repos, metadata := api.s.repos, api.s.repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	administration := repos.Router(route.Needs(scope.PublicRepo, "administration"))
	deletion := repos.Router(route.Needs(scope.DeleteRepo, "administration"))
	return []route.Route{
		creation.SignedIn("POST /user/repos", api.CreateOwn),
		creation.SignedIn("POST /orgs/{org}/repos", api.CreateForOrg),
		free.Anyone("GET /gitignore/templates", api.ListGitignores),
		free.Anyone("GET /gitignore/templates/{name}", api.GetGitignore),
		// Edit asks itself whether it is archived, and for admin where maintain is not enough.
		administration.OnArchived().Maintain("PATCH /repos/{owner}/{repo}", api.Edit),
		deletion.OnArchived().Admin("DELETE /repos/{owner}/{repo}", api.Delete),
		// and the owner
		administration.OnArchived().Admin("POST /repos/{owner}/{repo}/transfer", api.Transfer),
		repos.Router(creation).OnArchived().Pull("POST /repos/{owner}/{repo}/generate", api.Generate),
		metadata.Pull("GET /repos/{owner}/{repo}/topics", api.ListTopics),
		administration.Maintain("PUT /repos/{owner}/{repo}/topics", api.SetTopics),
		administration.Admin("GET /repos/{owner}/{repo}/keys", api.ListKeys),
		administration.Admin("POST /repos/{owner}/{repo}/keys", api.AddKey),
		administration.Admin("GET /repos/{owner}/{repo}/keys/{key_id}", api.GetKey),
		administration.OnArchived().Admin("DELETE /repos/{owner}/{repo}/keys/{key_id}", api.RemoveKey),
	}
}

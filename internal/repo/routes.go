package repo

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/route"
)

// Routes are the endpoints of repositories, their collaborators and forks, and of git over HTTP.
func (api *API) Routes() []route.Route {
	repos := api.s
	routes := []route.Route{
		route.New(route.SignedIn, "GET /user/repos", api.ListOwn),
		route.New(route.SignedIn, "POST /user/repos", api.CreateOwn),
		route.New(route.Anyone, "GET /users/{username}/repos", api.ListOfUser),
		route.New(route.Anyone, "GET /orgs/{org}/repos", api.ListOfOrg),
		route.New(route.SignedIn, "POST /orgs/{org}/repos", api.CreateForOrg),
		route.New(route.Anyone, "GET /repositories", api.ListPublic),
		route.New(route.Anyone, "GET /repositories/{repository_id}", api.GetByID).ByNumber(),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}", api.Get),
		repos.RouteArchived(route.Admin, "PATCH /repos/{owner}/{repo}", api.Edit), // Edit asks itself
		repos.RouteArchived(route.Admin, "DELETE /repos/{owner}/{repo}", api.Delete),
		repos.RouteArchived(route.Admin, "POST /repos/{owner}/{repo}/transfer", api.Transfer), // and the owner
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/forks", api.ListForks),
		repos.RouteArchived(route.Pull, "POST /repos/{owner}/{repo}/forks", api.CreateFork),
		repos.RouteArchived(route.Pull, "POST /repos/{owner}/{repo}/generate", api.Generate),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/topics", api.ListTopics),
		repos.Route(route.Admin, "PUT /repos/{owner}/{repo}/topics", api.SetTopics),
		repos.Route(route.Push, "GET /repos/{owner}/{repo}/collaborators", api.ListCollaborators),
		repos.Route(route.Push, "GET /repos/{owner}/{repo}/collaborators/{username}", api.CheckCollaborator),
		repos.Route(route.Admin, "PUT /repos/{owner}/{repo}/collaborators/{username}", api.AddCollaborator),
		// To remove others: admin.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/collaborators/{username}", api.RemoveCollaborator),
		repos.Route(route.Push, "GET /repos/{owner}/{repo}/collaborators/{username}/permission", api.GetPermission),
		repos.Route(route.Admin, "GET /repos/{owner}/{repo}/keys", api.ListKeys),
		repos.Route(route.Admin, "POST /repos/{owner}/{repo}/keys", api.AddKey),
		repos.Route(route.Admin, "GET /repos/{owner}/{repo}/keys/{key_id}", api.GetKey),
		repos.RouteArchived(route.Admin, "DELETE /repos/{owner}/{repo}/keys/{key_id}", api.RemoveKey),
	}
	return append(routes, api.gitRoutes()...)
}

// gitRoutes are those that git itself asks for.
func (api *API) gitRoutes() []route.Route {
	on := func(right route.Right, address string, role func(*http.Request) account.Role, h Handler) route.Route {
		return route.New(right, address, api.s.withGit(role, h)).Calls(h).In(route.Git)
	}
	infoRefs := on(route.Pull, "GET /{owner}/{repo}/info/refs", serviceRole, api.InfoRefs)
	fetch := on(route.Pull, "POST /{owner}/{repo}/git-upload-pack", fetching, api.UploadPack)
	fetch.Limit, fetch.Unpack = git.MaxFetchRequest, unpack
	push := on(route.Push, "POST /{owner}/{repo}/git-receive-pack", pushing, api.ReceivePack)
	push.Streams = true
	return []route.Route{infoRefs, fetch, push}
}

// Route makes a route about the repository that {owner} and {repo} name. Before its handler runs, the
// repository is found and the right checked. With SignedIn, seeing the repository is enough.
func (s *Service) Route(right route.Right, address string, h Handler) route.Route {
	return route.New(right, address, s.With(roleOf(right), h)).Calls(h).OnRepository()
}

// RouteArchived is Route for what may be done with an archived repository, too.
func (s *Service) RouteArchived(right route.Right, address string, h Handler) route.Route {
	return route.New(right, address, s.WithArchived(roleOf(right), h)).Calls(h).OnRepository()
}

// roleOf is the role that a right on a repository demands.
func roleOf(right route.Right) account.Role {
	return map[route.Right]account.Role{route.SignedIn: account.Pull, route.Pull: account.Pull,
		route.Push: account.Push, route.Admin: account.Admin}[right]
}

package server

import (
	"arbor/internal/account"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/plant"
	"arbor/internal/repo"
)

// features are the handlers that the table names.
type features struct {
	accounts *account.API
	repos    *repo.API
	service  *repo.Service
	git      *gitdata.API
	plants   *plant.API
	pages    *page.Pages
}

// interfaceTable is the whole interface: a line a route, with the right that it
// needs. Every unsafe method of the API needs a signed-in caller besides
// (decision 11).
func (s *Server) interfaceTable(f features) []Route {
	a, r, g, p := f.accounts, f.repos, f.git, f.plants
	pull := func(h repo.Handler) Endpoint { return onRepo(f.service, Pull, h) }
	push := func(h repo.Handler) Endpoint { return onRepo(f.service, Push, h) }
	admin := func(h repo.Handler) Endpoint { return onRepo(f.service, Admin, h) }
	fetching := func(h repo.Handler) Endpoint {
		return Endpoint{Group: Git, Right: Pull, serve: f.service.WithGit(repo.Fetching, h), handler: h}
	}
	pushing := func(h repo.Handler) Endpoint {
		return Endpoint{Group: Git, Right: Push, serve: f.service.WithGit(repo.Pushing, h), handler: h}
	}
	either := func(h repo.Handler) Endpoint { // push when the request names git-receive-pack
		return Endpoint{Group: Git, Right: Pull, serve: f.service.WithGit(repo.ServiceRole, h), handler: h}
	}
	return []Route{
		{"GET", "/", anyone(s.Root)},
		{"GET", "/rate_limit", anyone(s.RateLimit)},
		{"GET", "/healthz", people(s.Healthz)},
		{"GET", "/docs", people(s.Docs)},

		// Accounts
		{"GET", "/user", signedIn(a.GetSelf)},
		{"PATCH", "/user", signedIn(a.UpdateSelf)},
		{"GET", "/user/orgs", signedIn(a.ListOwnOrgs)},
		{"GET", "/user/memberships/orgs", signedIn(a.ListOwnMemberships)},
		{"GET", "/users", anyone(a.ListUsers)},
		{"GET", "/users/{username}", anyone(a.GetUser)},
		{"GET", "/users/{username}/orgs", anyone(a.ListUserOrgs)},
		{"GET", "/avatars/{id}", people(a.GetAvatar)},
		{"GET", "/orgs/{org}", anyone(a.GetOrg)},
		{"PATCH", "/orgs/{org}", signedIn(a.UpdateOrg)},
		{"GET", "/orgs/{org}/members", anyone(a.ListMembers)},
		{"GET", "/orgs/{org}/members/{username}", anyone(a.CheckMember)},
		{"PUT", "/orgs/{org}/members/{username}", signedIn(a.AddMember)},
		{"DELETE", "/orgs/{org}/members/{username}", signedIn(a.RemoveMember)},
		{"GET", "/orgs/{org}/memberships/{username}", signedIn(a.GetMembership)},
		{"PUT", "/orgs/{org}/memberships/{username}", signedIn(a.SetMembership)},
		{"DELETE", "/orgs/{org}/memberships/{username}", signedIn(a.RemoveMembership)},
		{"GET", "/orgs/{org}/public_members", anyone(a.ListPublicMembers)},
		{"GET", "/orgs/{org}/public_members/{username}", anyone(a.CheckPublicMember)},
		{"PUT", "/orgs/{org}/public_members/{username}", signedIn(a.PublicizeMember)},
		{"DELETE", "/orgs/{org}/public_members/{username}", signedIn(a.ConcealMember)},

		// Repositories
		{"GET", "/user/repos", signedIn(r.ListOwn)},
		{"POST", "/user/repos", signedIn(r.CreateOwn)},
		{"GET", "/users/{username}/repos", anyone(r.ListOfUser)},
		{"GET", "/orgs/{org}/repos", anyone(r.ListOfOrg)},
		{"POST", "/orgs/{org}/repos", signedIn(r.CreateForOrg)},
		{"GET", "/repos/{owner}/{repo}", pull(r.Get)},
		{"PATCH", "/repos/{owner}/{repo}", admin(r.Edit)},
		{"DELETE", "/repos/{owner}/{repo}", admin(r.Delete)},
		{"GET", "/repos/{owner}/{repo}/collaborators", push(r.ListCollaborators)},
		{"GET", "/repos/{owner}/{repo}/collaborators/{username}", push(r.CheckCollaborator)},
		{"PUT", "/repos/{owner}/{repo}/collaborators/{username}", admin(r.AddCollaborator)},
		{"DELETE", "/repos/{owner}/{repo}/collaborators/{username}", pull(r.RemoveCollaborator)}, // oneself; others: admin
		{"GET", "/repos/{owner}/{repo}/collaborators/{username}/permission", push(r.GetPermission)},

		// Git objects
		{"GET", "/repos/{owner}/{repo}/git/trees/{sha...}", pull(g.GetTree)},

		// Git over HTTP
		{"GET", "/{owner}/{repo}/info/refs", either(r.InfoRefs)},
		{"POST", "/{owner}/{repo}/git-upload-pack", fetching(r.UploadPack)},
		{"POST", "/{owner}/{repo}/git-receive-pack", pushing(r.ReceivePack)},

		// The plant store
		{"GET", "/plants", plants(p.List)},
		{"POST", "/plants", plants(p.Create)},
		{"DELETE", "/plants/{id}", plants(p.Delete)},

		// Pages for people, where html_url leads
		{"GET", "/{owner}", people(f.pages.Owner)},
		{"GET", "/{owner}/{repo}", people(f.pages.Repo)},
	}
}

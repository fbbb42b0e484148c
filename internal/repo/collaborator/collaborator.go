// Package collaborator lists and changes the people with access to a repository:
//
//	.../collaborators                                 api.go, store.go
//	possible assignees of issues                      assignee.go
//
// Roles are granted and taken away by [repo.Service.GrantBy] and [repo.Service.Revoke].
package collaborator

import (
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// API answers the requests about collaborators.
type API struct {
	db    *db.DB
	repos *repo.Service
}

// NewAPI returns the handlers.
func NewAPI(d *db.DB, repos *repo.Service) *API { return &API{d, repos} }

// Routes are the endpoints of collaborators.
func (api *API) Routes() []route.Route {
	repos := api.repos
	reading := repos.Router(route.Needs(scope.PublicRepo, "metadata").ForApps("administration"))
	changing := repos.Router(route.Needs(scope.PublicRepo, route.Never).ForApps("administration"))
	return []route.Route{
		reading.Push("GET /repos/{owner}/{repo}/collaborators", api.ListCollaborators),
		reading.Push("GET /repos/{owner}/{repo}/collaborators/{username}", api.CheckCollaborator),
		changing.Admin("PUT /repos/{owner}/{repo}/collaborators/{username}", api.AddCollaborator),
		// To remove others: admin.
		changing.Pull("DELETE /repos/{owner}/{repo}/collaborators/{username}", api.RemoveCollaborator),
		reading.Push("GET /repos/{owner}/{repo}/collaborators/{username}/permission", api.GetPermission),
	}
}

// Package collaborator lists and changes the people with access to a repository:
//
//	.../collaborators                                 api.go, store.go; the operations are here
//	possible assignees of issues                      assignee.go
//
// Roles are granted and taken away by [repo.Service.GrantBy] and [repo.Service.Revoke].
package collaborator

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// resource is the name of collaborators in validation errors (decision 15).
const resource = "Collaborator"

// Collaborator is a user with the role that it has on a repository.
type Collaborator struct {
	Account *account.Account
	Role    account.Role
}

// RoleName is the name of the role in answers.
func (c *Collaborator) RoleName() string { return roleNames[c.Role] }

// Service holds what the operations on collaborators share.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns the service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// List reads a page of the chosen collaborators by id, and how many there are. The caller needs push access.
func (s *Service) List(
	ctx context.Context, a *repo.Access, c Choice, at web.Page,
) (people []Collaborator, total int64, err error) {
	found, err := s.ListMany(ctx, []*repo.Access{a}, c, at)
	if err != nil {
		return nil, 0, err
	}
	return found[a.ID].Rows, found[a.ID].Total, nil
}

// ListMany is List for several repositories, with a fixed number of statements.
func (s *Service) ListMany(
	ctx context.Context, repos []*repo.Access, c Choice, at web.Page,
) (found map[repo.ID]*web.List[Collaborator], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = listCollaborators(tx, repos, c, at)
		return err
	})
	return found, err
}

// Payloads lists collaborators as GET /repos/{owner}/{repo}/collaborators does, of several repositories.
func (s *Service) Payloads(
	ctx context.Context, repos []*repo.Access, c Choice, at web.Page,
) (map[repo.ID]*web.List[Payload], error) {
	found, err := s.ListMany(ctx, repos, c, at)
	info, out := web.From(ctx), map[repo.ID]*web.List[Payload]{}
	for id, list := range found {
		shown := &web.List[Payload]{Total: list.Total, More: list.More}
		for _, p := range list.Rows {
			shown.Rows = append(shown.Rows, newPayload(p, info))
		}
		out[id] = shown
	}
	return out, err
}

// permissions are the roles that can be granted.
var permissions = []string{"pull", "push", "admin"}

// Add grants a permission to a user: pull, push or admin. It counts at once. Errors: 422; those of
// [repo.Service.GrantBy].
func (s *Service) Add(ctx context.Context, a *repo.Access, login, permission string) error {
	f := web.Faults{Resource: resource}
	f.CheckEnum("permission", permission, permissions...)
	if err := f.Err(); err != nil {
		return err
	}
	role, _ := account.ParseRole(permission)
	return s.repos.GrantBy(ctx, a, login, role)
}

// Remove takes away what was granted to a user. Errors: those of [repo.Service.Revoke].
func (s *Service) Remove(ctx context.Context, a *repo.Access, login string) error {
	return s.repos.Revoke(ctx, a, login)
}

// API answers the requests about collaborators.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// Routes are the endpoints of collaborators.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
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

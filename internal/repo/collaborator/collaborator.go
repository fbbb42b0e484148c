// Package collaborator lists and changes the people with access to a repository:
//
//	.../collaborators                                 api.go, store.go; the operations are here
//	/orgs/{org}/outside_collaborators                 outside.go
//	possible assignees of issues                      assignee.go
//
// Package invitation grants roles, at once or when people accept; [repo.Service.Revoke] takes them away.
package collaborator

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/invitation"
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

// Service holds what the operations on collaborators share.
type Service struct {
	db      *db.DB
	repos   *repo.Service
	invites *invitation.Service
}

// New returns the service.
func New(d *db.DB, repos *repo.Service, invites *invitation.Service) *Service {
	return &Service{d, repos, invites}
}

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
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID]*web.List[Collaborator], error) {
		return listCollaborators(tx, repos, c, at)
	})
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

// Add grants a permission to a user, one of [account.Grants]. It counts at once unless an invitation is returned, on
// servers that require them. Errors: 422; those of [invitation.Service.Add].
func (s *Service) Add(
	ctx context.Context, a *repo.Access, login, permission string,
) (*invitation.Invitation, error) {
	return s.with(ctx, a, login, permission, s.invites.Add)
}

// Invite invites a user, who has the permission once accepted. Errors: 422; those of [invitation.Service.Invite].
func (s *Service) Invite(
	ctx context.Context, a *repo.Access, login, permission string,
) (*invitation.Invitation, error) {
	return s.with(ctx, a, login, permission, s.invites.Invite)
}

func (s *Service) with(
	ctx context.Context, a *repo.Access, login, permission string,
	do func(context.Context, *repo.Access, string, account.Role) (*invitation.Invitation, error),
) (*invitation.Invitation, error) {
	f := web.Faults{Resource: resource}
	f.CheckEnum("permission", permission, account.Grants()...)
	if err := f.Err(); err != nil {
		return nil, err
	}
	role, _ := account.ParseRole(permission)
	return do(ctx, a, login, role)
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
	overseeing := route.Needs(scope.ReadOrg, route.Never).ForApps("members")
	removing := route.Needs(scope.AdminOrg, route.Never).ForApps("members")
	return []route.Route{
		overseeing.SignedIn("GET /orgs/{org}/outside_collaborators", api.ListOutsiders),
		removing.SignedIn("DELETE /orgs/{org}/outside_collaborators/{username}", api.RemoveOutsider),
		reading.Push("GET /repos/{owner}/{repo}/collaborators", api.ListCollaborators),
		reading.Push("GET /repos/{owner}/{repo}/collaborators/{username}", api.CheckCollaborator),
		changing.Admin("PUT /repos/{owner}/{repo}/collaborators/{username}", api.AddCollaborator),
		// To remove others: admin.
		changing.Pull("DELETE /repos/{owner}/{repo}/collaborators/{username}", api.RemoveCollaborator),
		reading.Push("GET /repos/{owner}/{repo}/collaborators/{username}/permission", api.GetPermission),
	}
}

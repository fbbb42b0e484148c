package repo

import (
	"arbor/internal/account"
	"arbor/internal/route"
)

// Router builds routes of repositories with the same need. Before their handlers are called, the repository
// is found and the caller's role is checked.
type Router struct {
	repos    *Service
	need     route.Need
	archived bool
}

// Router returns the Router for a need.
func (s *Service) Router(need route.Need) Router { return Router{repos: s, need: need} }

// OnArchived returns a Router whose routes may also change archived repositories.
func (on Router) OnArchived() Router {
	on.archived = true
	return on
}

// SignedIn returns a route for signed-in callers who can see the repository.
func (on Router) SignedIn(address string, h Handler) route.Route {
	return on.route(route.SignedIn, account.Pull, address, h)
}

// Pull returns a route for callers who can see the repository.
func (on Router) Pull(address string, h Handler) route.Route {
	return on.route(route.Pull, account.Pull, address, h)
}

// Triage returns a route for callers who sort issues and pull requests.
func (on Router) Triage(address string, h Handler) route.Route {
	return on.route(route.Triage, account.Triage, address, h)
}

// Push returns a route for callers with push access.
func (on Router) Push(address string, h Handler) route.Route {
	return on.route(route.Push, account.Push, address, h)
}

// Maintain returns a route for callers who maintain the repository.
func (on Router) Maintain(address string, h Handler) route.Route {
	return on.route(route.Maintain, account.Maintain, address, h)
}

// Admin returns a route for administrators of the repository.
func (on Router) Admin(address string, h Handler) route.Route {
	return on.route(route.Admin, account.Admin, address, h)
}

func (on Router) route(right route.Right, role account.Role, address string, h Handler) route.Route {
	if on.archived {
		return on.need.Route(right, address, on.repos.WithArchived(role, h)).OnRepository().OnArchived()
	}
	return on.need.Route(right, address, on.repos.With(role, h)).OnRepository()
}

package repo

import (
	"arbor/internal/account"
	"arbor/internal/route"
)

// Router makes the routes on repositories that want the same of a token. Their handlers run once the repository
// was found and the caller's role on it suffices.
type Router struct {
	repos    *Service
	need     route.Need
	archived bool
}

// Router returns the Router of routes with a need.
func (s *Service) Router(need route.Need) Router { return Router{repos: s, need: need} }

// OnArchived returns the Router of routes that change archived repositories, too.
func (on Router) OnArchived() Router {
	on.archived = true
	return on
}

// SignedIn makes a route for callers who signed in and see the repository.
func (on Router) SignedIn(address string, h Handler) route.Route {
	return on.route(route.SignedIn, account.Pull, address, h)
}

// Pull makes a route for callers who see the repository.
func (on Router) Pull(address string, h Handler) route.Route {
	return on.route(route.Pull, account.Pull, address, h)
}

// Push makes a route for callers who may push.
func (on Router) Push(address string, h Handler) route.Route {
	return on.route(route.Push, account.Push, address, h)
}

// Admin makes a route for administrators of the repository.
func (on Router) Admin(address string, h Handler) route.Route {
	return on.route(route.Admin, account.Admin, address, h)
}

func (on Router) route(right route.Right, role account.Role, address string, h Handler) route.Route {
	if on.archived {
		return on.need.Route(right, address, on.repos.WithArchived(role, h)).OnRepository().OnArchived()
	}
	return on.need.Route(right, address, on.repos.With(role, h)).OnRepository()
}

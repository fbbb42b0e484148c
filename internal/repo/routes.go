package repo

import (
	"arbor/internal/account"
	"arbor/internal/route"
)

// Route makes a route about the repository that {owner} and {repo} name. Before its handler runs, the
// repository is found and the right checked. With SignedIn, seeing the repository is enough.
func (s *Service) Route(right route.Right, address string, h Handler) route.Route {
	return route.New(right, address, s.With(roleOf(right), h)).OnRepository()
}

// RouteArchived is Route for what may be done with an archived repository, too.
func (s *Service) RouteArchived(right route.Right, address string, h Handler) route.Route {
	return route.New(right, address, s.WithArchived(roleOf(right), h)).OnRepository()
}

// roleOf is the role that a right on a repository demands.
func roleOf(right route.Right) account.Role {
	return map[route.Right]account.Role{route.SignedIn: account.Pull, route.Pull: account.Pull,
		route.Push: account.Push, route.Admin: account.Admin}[right]
}

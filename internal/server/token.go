package server

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/plant"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// tokenNeed is what a route wants of a token, with the headers that say so.
type tokenNeed struct {
	route.Need
	scopes, permissions []string // the values of X-Accepted-OAuth-Scopes and X-Accepted-GitHub-Permissions
}

func newTokenNeed(r *route.Route) tokenNeed {
	n := tokenNeed{Need: r.Need}
	if r.Method != anyMethod {
		n.scopes = []string{scope.Including(n.Scopes)}
	}
	if n.Fine != route.None && n.Fine != route.Never {
		n.permissions = []string{n.Fine}
	}
	return n
}

// headers tells a client what its token may do and what the route wants, as GitHub does.
func (n *tokenNeed) headers(h http.Header, g *account.Grant) {
	if g == nil {
		return
	}
	if g.Fine {
		if n.permissions != nil {
			h["X-Accepted-Github-Permissions"] = n.permissions
		}
	} else {
		h["X-Oauth-Scopes"] = g.ScopesHeader
		if n.scopes != nil { // nil: the address is not implemented
			h["X-Accepted-Oauth-Scopes"] = n.scopes
		}
	}
	if g.ExpiryHeader != nil {
		h["Github-Authentication-Token-Expiration"] = g.ExpiryHeader
	}
}

// restrict returns the caller as the token lets it use the route: this is the one place where
// scopes meet routes.
//
//   - What everybody may do without signing in is done as nobody, if the scopes do not suffice.
//   - All else is refused: at once, or on a route of a repository once that was found, since
//     one that the caller does not see is a 404.
//   - How far the rest sees and changes repositories, the caller's Reach says to all code.
//
// Git's routes serve fetches and pushes with one address each, so they look at the reach alone.
// Errors: 403.
func (n *tokenNeed) restrict(caller *account.Caller, method string, to *route.Route) (*account.Caller, error) {
	g := caller.Grant
	switch {
	case caller.SignedApp != 0 && to.Right == route.App:
		return caller, nil
	case caller.SignedApp != 0:
		return nil, errs.New(errs.Forbidden, "Resource not accessible by integration")
	case to.Right == route.App:
		return nil, app.NoJWT()
	case caller.App != 0:
		return n.restrictApp(caller, method, to)
	}
	if !g.Limited() || to.Group == route.Git {
		return caller, nil
	}
	open := safe(method) && !to.SignsIn()
	refusal := caller.Allows(n.Scopes, n.Fine != route.Never)
	alone := n.Scopes & (scope.RepoStatus | scope.ReadRepoHooks | scope.WriteRepoHooks | scope.AdminRepoHooks)
	switch {
	case g.Scopes.Any(alone) && caller.Reach != account.Everything:
		c := *caller
		c.Reach = account.Everything // of builds or hooks alone, also those of private repositories
		return &c, nil
	case refusal == nil || open && g.Fine:
		return caller, nil
	case open:
		return nil, nil
	}
	if to.Group == route.Plants {
		refusal = plant.NoScope()
	}
	if !to.OfRepo {
		return nil, refusal
	}
	c := *caller
	c.Refusal = refusal
	return &c, nil
}

// restrictApp is restrict for the token of an App's installation: the route's permission decides alone. Without
// it the App reads what everybody may read, and nothing else: on a route of a repository that is found out
// once the repository was, see repo.With.
func (n *tokenNeed) restrictApp(
	caller *account.Caller, method string, to *route.Route,
) (*account.Caller, error) {
	open := safe(method) && !to.SignsIn()
	permission, level, cannot := n.ByApp()
	now, allowed := caller, false
	if !cannot {
		now, allowed = caller.ForRoute(permission, level, leastRole(to.Right))
	}
	switch {
	case allowed:
		return now, nil
	case (to.OfRepo || to.Group == route.Git) && !cannot:
		now.Refusal = caller.Insufficient(0)
		return now, nil
	case open:
		return nil, nil
	}
	return nil, caller.Insufficient(0)
}

// leastRole is the role on a repository that a right names.
func leastRole(right route.Right) account.Role {
	role, _ := account.ParseRole(string(right))
	return role
}

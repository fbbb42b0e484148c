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

// tokenNeed is what a route requires of a token, with the headers that report it.
type tokenNeed struct {
	route.Need
	scopes, permissions []string // values of X-Accepted-OAuth-Scopes and X-Accepted-GitHub-Permissions
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

// headers reports the token's scopes and the route's requirements, as GitHub does.
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

// restrict returns the caller with the rights that the token has on the route. Scopes meet routes only
// here.
//
//   - If the scopes do not suffice but the route is open to anonymous callers, the request continues as anonymous.
//   - All other requests are rejected: immediately, or on a repository's route after the repository
//     was found, since a repository that the caller cannot see is a 404.
//   - For accepted requests, the caller's Reach limits which repositories the code may read and change.
//
// Git uses one address each for fetches and pushes, so git's routes check only the reach. Errors: 403.
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
	case caller.ForApp != 0:
		return n.restrictUser(caller, method, to)
	}
	if !g.Limited() || to.Group == route.Git {
		return caller, nil
	}
	open := safe(method) && !to.SignsIn()
	refusal := caller.Allows(n.Scopes, n.Fine != route.Never)
	alone := n.Scopes & (scope.RepoStatus | scope.ReadRepoHooks | scope.WriteRepoHooks | scope.AdminRepoHooks |
		scope.RepoDeployment)
	switch {
	case g.Scopes.Any(alone) && caller.Reach != account.Everything:
		c := *caller
		c.Reach = account.Everything // only of statuses, deployments or webhooks, also in private repositories
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

// restrictApp is restrict for an App's installation token: only the route's permission matters. Without it
// the App can read what is public. On a repository's route this is decided after the repository was found,
// see repo.With.
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

// restrictUser is restrict for a token by which an App acts for a user. Which repositories and organizations have an
// installation with the permission, each of these says. Of pages only files are open.
func (n *tokenNeed) restrictUser(
	caller *account.Caller, method string, to *route.Route,
) (*account.Caller, error) {
	permission, level, cannot := n.ByUser()
	cannot = cannot || to.Group == route.Pages && (to.SignsIn() || permission == "")
	if !cannot {
		if now, allowed := caller.ForRoute(permission, level, leastRole(to.Right)); allowed {
			return now, nil
		}
	}
	switch {
	case to.Group == route.Plants:
		return nil, plant.NoScope()
	case safe(method) && !to.SignsIn():
		return nil, nil
	}
	return nil, caller.Insufficient(0)
}

// leastRole returns the repository role that a right names.
func leastRole(right route.Right) account.Role {
	role, _ := account.ParseRole(string(right))
	return role
}

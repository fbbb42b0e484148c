package route

import (
	"net/http"
	"strings"

	"arbor/internal/scope"
	"arbor/internal/web"
)

// Need holds the scopes and permissions that a token needs for a route. A limited token without them still
// reads what everybody may read, as if nobody had signed in; everything else is refused. The zero value
// refuses every limited token.
type Need struct {
	// Scopes are alternatives: a classic token needs one of them, or one that includes it. scope.None: any
	// token will do.
	Scopes scope.Set
	// Fine is the permission that a fine-grained token needs, App the one that an App's installation needs.
	// In a route they have a level: "issues=read".
	Fine, App string
	// User is the permission that the token needs by which an App acts for a user, if that is neither App nor, where
	// no App can use the route, Fine; see ByUser.
	User string
}

// Permissions that are not names.
const (
	None = "none" // no permission is needed
	// Never marks routes that such tokens cannot use, except to read what is public.
	Never = ""
	// Nobody is Never where ForUsers names it.
	Nobody = "nobody"
)

// Needs returns a need of scopes and of a permission, for fine-grained tokens and Apps: GitHub's name of it,
// None or Never. A route adds the level, read or write, by its method, unless the name has one:
// "metadata=read".
func Needs(scopes scope.Set, permission string) Need {
	return Need{Scopes: scopes, Fine: permission, App: permission}
}

// ForApps returns the need with another permission for Apps.
func (n Need) ForApps(permission string) Need {
	n.App = permission
	return n
}

// ForUsers returns the need with another permission for Apps that act for a user: a name, None or Nobody.
func (n Need) ForUsers(permission string) Need {
	n.User = permission
	return n
}

// Route returns a route of the API. The address is a method and a pattern: "GET /users/{username}".
func (n Need) Route(right Right, address string, h web.Handler) Route {
	method, pattern, _ := strings.Cut(address, " ")
	n.Fine, n.App, n.User = withLevel(method, n.Fine), withLevel(method, n.App), withLevel(method, n.User)
	return Route{Method: method, Pattern: pattern, Right: right, Need: n, Handler: h}
}

// Anyone returns a route for everybody.
func (n Need) Anyone(address string, h web.Handler) Route { return n.Route(Anyone, address, h) }

// SignedIn returns a route for signed-in callers.
func (n Need) SignedIn(address string, h web.Handler) Route { return n.Route(SignedIn, address, h) }

// SiteAdmin returns a route for site administrators.
func (n Need) SiteAdmin(address string, h web.Handler) Route { return n.Route(SiteAdmin, address, h) }

// ByJWT returns a route for Apps that sign the request.
func (n Need) ByJWT(address string, h web.Handler) Route { return n.Route(App, address, h) }

// Installation returns a route for tokens of installations.
func (n Need) Installation(address string, h web.Handler) Route {
	return n.Route(Installation, address, h)
}

// withLevel adds read or write to a permission.
func withLevel(method, permission string) string {
	switch {
	case permission == None || permission == Never || permission == Nobody || strings.Contains(permission, "="):
		return permission
	case method == http.MethodGet:
		return permission + "=read"
	default:
		return permission + "=write"
	}
}

// ByApp splits App into the permission and the level that an installation needs, empty if it needs none. No
// App can use the route if cannot is true.
func (n Need) ByApp() (permission, level string, cannot bool) {
	if n.App == None {
		return "", "", false
	}
	permission, level, _ = strings.Cut(n.App, "=")
	return permission, level, n.App == Never
}

// ByUser is ByApp for an App that acts for a user: it needs what the App's own tokens need, or where these cannot use the
// route, what fine-grained tokens need.
func (n Need) ByUser() (permission, level string, cannot bool) {
	for _, need := range []string{n.User, n.App, n.Fine} {
		if need != Never {
			permission, level, _ = strings.Cut(need, "=")
			break
		}
	}
	if permission == None {
		return "", "", false
	}
	return permission, level, permission == Never || permission == Nobody
}

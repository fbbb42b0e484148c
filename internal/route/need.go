package route

import (
	"net/http"
	"strings"

	"arbor/internal/scope"
	"arbor/internal/web"
)

// Need is what a route wants of a token. Without it, what everybody may read is read as by
// everybody, and all else is refused. Only tokens without limits meet the zero value.
type Need struct {
	// Scopes are those of which a classic token needs one, or one that includes it; scope.None: it needs none.
	Scopes scope.Set
	// Fine is the permission that fine-grained tokens need, and App the one of an App's installation. In a
	// route each has a level: "issues=read".
	Fine, App string
}

// Permissions that are no names.
const (
	None = "none" // none is needed
	// Never marks routes that these tokens cannot use, but to read what is public.
	Never = ""
)

// Needs makes a need of scopes and a permission, for fine-grained tokens and for Apps: a name of GitHub's, None
// or Never. Each route adds the level to the name, read or write, by its method; "metadata=read" has one already.
func Needs(scopes scope.Set, permission string) Need { return Need{scopes, permission, permission} }

// ForApps returns the need with another permission for Apps.
func (n Need) ForApps(permission string) Need {
	n.App = permission
	return n
}

// Route makes a route of the API. The address is a method and a pattern: "GET /users/{username}".
func (n Need) Route(right Right, address string, h web.Handler) Route {
	method, pattern, _ := strings.Cut(address, " ")
	n.Fine, n.App = withLevel(method, n.Fine), withLevel(method, n.App)
	return Route{Method: method, Pattern: pattern, Right: right, Need: n, Handler: h}
}

// Anyone makes a route for everybody.
func (n Need) Anyone(address string, h web.Handler) Route { return n.Route(Anyone, address, h) }

// SignedIn makes a route for callers who signed in.
func (n Need) SignedIn(address string, h web.Handler) Route { return n.Route(SignedIn, address, h) }

// SiteAdmin makes a route for site administrators.
func (n Need) SiteAdmin(address string, h web.Handler) Route { return n.Route(SiteAdmin, address, h) }

// ByJWT makes a route for Apps that sign the request.
func (n Need) ByJWT(address string, h web.Handler) Route { return n.Route(App, address, h) }

// Installation makes a route for tokens of installations.
func (n Need) Installation(address string, h web.Handler) Route {
	return n.Route(Installation, address, h)
}

// withLevel adds to a permission whether it is to read or to write.
func withLevel(method, permission string) string {
	switch {
	case permission == None || permission == Never || strings.Contains(permission, "="):
		return permission
	case method == http.MethodGet:
		return permission + "=read"
	default:
		return permission + "=write"
	}
}

// ByApp reads App: the permission and the level that an installation needs, empty if it needs none; cannot says
// that no App can use the route.
func (n Need) ByApp() (permission, level string, cannot bool) {
	if n.App == None {
		return "", "", false
	}
	permission, level, _ = strings.Cut(n.App, "=")
	return permission, level, n.App == Never
}

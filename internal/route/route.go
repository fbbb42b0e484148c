// Package route describes one endpoint: its address, the right it needs and its handler. Each feature
// lists its endpoints in its own routes.go; package server joins the lists and serves them.
package route

import (
	"io"
	"net/http"
	"strings"

	"arbor/internal/web"
)

// Right is what a caller needs before the handler runs.
type Right string

// The rights. Those on a repository include that the caller sees it: to anyone else it does not exist.
// Every unsafe method of the API needs a signed-in caller besides (decision 11).
const (
	Anyone   Right = "anyone"
	SignedIn Right = "signed in"
	Pull     Right = "pull"
	Push     Right = "push"
	Admin    Right = "admin"
	// SiteAdmin is for site administrators: to anyone else such a route does not exist.
	SiteAdmin Right = "site admin"
	// App is for a GitHub App that signs the request with a JWT, which opens nothing else.
	App Right = "app"
	// Installation is for the tokens of an App's installations.
	Installation Right = "installation"
)

// Group says how the routes of one kind of client behave.
type Group uint8

// The groups of routes.
const (
	API    Group = iota // the code-hosting API: JSON, both dialects, CORS, also under /api/v3
	Plants              // the plant store: JSON, bearer tokens only, its own error form
	Git                 // git over HTTP: plain text errors, streams
	Pages               // for people and machines beside the API: no media types
)

// Route is one endpoint.
type Route struct {
	Method string
	// Pattern has {name} for a segment, {name}.end for one that ends so, and {name...} for the rest
	// of the path or for the part before one last segment.
	Pattern string
	Group   Group
	Right   Right
	Handler web.Handler

	Limit int64 // of the request's body in bytes; 0 is web.MaxJSON
	// decompresses the request's body; nil: it is as it came
	Unpack     func(*http.Request) (io.Reader, error)
	Streams    bool // the handler reads the request's body as it comes
	Unadmitted bool // answered also when the server is full
	AnyMedia   bool // see InAnyMedia
	Numbered   bool // see ByNumber
	OfRepo     bool // repo.Service.With finds the repository first
	Limited    bool // see Counted
	Nobody     bool // see ForNobody
	Elsewhere  bool // see FromElsewhere

}

// New makes a route of the API. The address is a method and a pattern: "GET /users/{username}".
// Handlers that need a repository are routed by repo.Service.Route.
func New(right Right, address string, h web.Handler) Route {
	method, pattern, _ := strings.Cut(address, " ")
	return Route{Method: method, Pattern: pattern, Right: right, Handler: h}
}

// In puts the route into another group.
func (r Route) In(g Group) Route {
	r.Group = g
	return r
}

// InAnyMedia says that Accept is not held against JSON: the handler looks at it, or answers one thing to all.
func (r Route) InAnyMedia() Route {
	r.AnyMedia = true
	return r
}

// ByNumber says that the pattern's last segment, a placeholder, stands for digits alone. An address
// with anything else there is one that the server does not have.
func (r Route) ByNumber() Route {
	r.Numbered = true
	return r
}

// WithLimit allows request bodies of up to limit bytes.
func (r Route) WithLimit(limit int64) Route {
	r.Limit = limit
	return r
}

// Counted says that requests count against the caller's limit though the route is one of the pages.
func (r Route) Counted() Route {
	r.Limited = true
	return r
}

// ForNobody lets an unsafe request come without a caller who signed in: it brings its own proof.
func (r Route) ForNobody() Route {
	r.Nobody = true
	return r
}

// FromElsewhere says that a form may come from a page of another site. Then it has no caller, whatever the
// browser brings.
func (r Route) FromElsewhere() Route {
	r.Elsewhere = true
	return r
}

// OnRepository says that the handler reports what a token does not let it do: it finds the
// repository first, since one that the caller does not see is a 404.
func (r Route) OnRepository() Route {
	r.OfRepo = true
	return r
}

// Counts reports whether requests count against the caller's limit: those of the API, git's, and of
// pages that cost what the API's answers do, and those that say so.
func (r *Route) Counts() bool { return r.Group != Pages || r.Right == Pull || r.Limited }

// Package route describes endpoints: address, right, scopes and permission of a token, handler. A feature
// lists its endpoints in its own routes.go, one a line; package server joins the lists and serves them.
//
//	free, keys := route.Needs(scope.None, route.None), route.Needs(scope.WriteKeys, route.Never)
//	return []route.Route{
//		free.Anyone("GET /users/{username}/keys", a.ListKeys),
//		keys.SignedIn("POST /user/keys", a.AddOwnKey),
//	}
//
// Endpoints on a repository are made in the same way by a repo.Router, and pages by a page.Router.
package route

import (
	"io"
	"net/http"

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
	Triage   Right = "triage"
	Push     Right = "push"
	Maintain Right = "maintain"
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
	Pages               // pages and other addresses outside the API: no media types
)

// Route is one endpoint.
type Route struct {
	Method string
	// Pattern contains {name} for a segment, {name}.end for a segment with a suffix, and {name...} for the
	// rest of the path or for everything before the last segments.
	Pattern string
	Group   Group
	Right   Right
	Need    Need
	Handler web.Handler

	Limit int64 // of the request's body in bytes; 0 is web.MaxJSON
	// decompresses the request's body; nil: it is as it came
	Unpack     func(*http.Request) (io.Reader, error)
	Streams    bool // see Streamed
	Unadmitted bool // see AlsoWhenFull
	AnyMedia   bool // see InAnyMedia
	Numbered   bool // see ByNumber
	OfRepo     bool // see OnRepository
	Archived   bool // see OnArchived
	Limited    bool // see Counted
	Nobody     bool // see ForNobody
	Elsewhere  bool // see FromElsewhere
	Open       bool // see WithoutToken
	Client     bool // see ByClient
	Factorless bool // see WithoutFactor
	File       bool // see AsFile
	LFS        bool // see ForLFS
	SCIM       bool // see ForSCIM
	Promised   bool // see Announced

	Space Space
}

// Space says which requests of a route take room on the disk.
type Space uint8

// The values of a route's Space.
const (
	SpaceByMethod Space = iota // those that neither read nor delete, except for pages
	SpaceAlways
	SpaceNever
	SpaceBeforePush // those that announce a push of git
)

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

// AsFile says that the route answers a file, which browsers open too: a session counts as for pages.
func (r Route) AsFile() Route {
	r.File = true
	return r.InAnyMedia()
}

// TakesSpace says which requests take room on the disk, where the method does not say so.
func (r Route) TakesSpace(s Space) Route {
	r.Space = s
	return r
}

// WithoutToken keeps the route open to callers without a token on servers that demand one of everybody.
func (r Route) WithoutToken() Route {
	r.Open = true
	return r
}

// Streamed says that the handler reads the request's body as it comes.
func (r Route) Streamed() Route {
	r.Streams = true
	return r
}

// AlsoWhenFull says that the route is answered when the server takes on no other requests.
func (r Route) AlsoWhenFull() Route {
	r.Unadmitted = true
	return r
}

// Counted says that requests count against the caller's limit though the route is one of the pages.
func (r Route) Counted() Route {
	r.Limited = true
	return r
}

// ForNobody allows unsafe requests without a signed-in caller. They bring their own proof.
func (r Route) ForNobody() Route {
	r.Nobody = true
	return r
}

// ByClient says that the request's Authorization is an OAuth client's, which the handler reads: it has no caller.
func (r Route) ByClient() Route {
	r.Client = true
	return r
}

// WithoutFactor keeps the page open to users who must have a second factor before they can use anything else.
func (r Route) WithoutFactor() Route {
	r.Factorless = true
	return r
}

// FromElsewhere allows requests from pages of other sites. These have no caller, even if the browser sends
// a session cookie.
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

// OnArchived says that the route also changes archived repositories.
func (r Route) OnArchived() Route {
	r.Archived = true
	return r
}

// ForLFS says that the route is one of Git LFS: it takes tokens of package lfs besides others, and its errors are
// JSON.
func (r Route) ForLFS() Route {
	r.LFS = true
	return r
}

// ForSCIM says that the route is one of SCIM, for identity providers: answers and errors are SCIM's, and a token
// that may provision opens it without other rights of a site administrator.
func (r Route) ForSCIM() Route {
	r.SCIM = true
	return r.InAnyMedia()
}

// Announced says that requests with a token of package lfs do not count against the caller's limit: the request that
// gave the token out has counted.
func (r Route) Announced() Route {
	r.Promised = true
	return r
}

// Counts reports whether requests count against the caller's limit: those of the API, git's, and of
// pages that cost what the API's answers do, and those that say so.
func (r *Route) Counts() bool { return r.Group != Pages || r.Right == Pull || r.Limited }

// SignsIn reports whether the route requires a signed-in caller even for reading, because it returns the
// caller's own data.
func (r *Route) SignsIn() bool {
	return r.Right == SignedIn || r.Right == SiteAdmin || r.Right == App || r.Right == Installation
}

package server

import (
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"arbor/internal/account"
	"arbor/internal/plant"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Right is what a route demands of its caller before its handler runs.
type Right string

// The rights of the table. Those on a repository include that the caller sees
// it: to anyone else it does not exist.
const (
	Anyone   Right = "anyone"
	SignedIn Right = "signed in"
	Pull     Right = "pull"
	Push     Right = "push"
	Admin    Right = "admin"
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

// errorForm is the form in which the group's clients read errors.
func (g Group) errorForm() web.Form {
	switch g {
	case Plants:
		return plant.Errors
	case Git:
		return web.PlainErrors
	default:
		return web.APIErrors
	}
}

// Route is one line of the table.
type Route struct {
	Method  string
	Pattern string // {name} is a segment, {name...} the rest of the path, or what is before one last segment
	Endpoint
}

// unpack gives the body that a compressed one stands for; nil: it is as it came.
type unpack func(*http.Request) (io.Reader, error)

// Endpoint is what a route leads to.
type Endpoint struct {
	Group   Group
	Right   Right
	Limit   int64 // of the request's body in bytes; 0 is web.MaxJSON
	unpack  unpack
	always  bool // answered also when the server is full
	streams bool // the handler reads the request's body as it comes
	serve   web.Handler
	handler any    // the function as its package wrote it
	anchor  string // of its documentation, with its #; made with the table
}

// counts tells that requests count against the caller's limit: those of the API,
// git's, and of pages that cost what the API's answers do.
func (e *Endpoint) counts() bool { return e.Group != Pages || e.Right == Pull }

// HandlerName is the handler as Go names it, e.g. (*API).Get of package repo as
// "arbor/internal/repo.(*API).Get".
func (e *Endpoint) HandlerName() string {
	name := runtime.FuncForPC(reflect.ValueOf(e.handler).Pointer()).Name()
	return strings.TrimSuffix(name, "-fm")
}

func anyone(h web.Handler) Endpoint   { return Endpoint{Right: Anyone, serve: h, handler: h} }
func signedIn(h web.Handler) Endpoint { return Endpoint{Right: SignedIn, serve: h, handler: h} }

func plants(h web.Handler) Endpoint {
	return Endpoint{Group: Plants, Right: SignedIn, serve: h, handler: h}
}

func people(h web.Handler) Endpoint {
	return Endpoint{Group: Pages, Right: Anyone, serve: h, handler: h}
}

// onRepo is an endpoint about a repository: the service finds it and checks
// the right before the handler runs.
func onRepo(s *repo.Service, right Right, h repo.Handler) Endpoint {
	role := map[Right]account.Role{Pull: account.Pull, Push: account.Push, Admin: account.Admin}[right]
	return Endpoint{Right: right, serve: s.With(role, h), handler: h}
}

// node is all routes of one pattern.
type node struct {
	pattern string
	routes  []*Route
	allow   string // the value of Allow
	metrics routeMetrics
}

// find returns the route for a method: HEAD is answered by GET, and POST by
// PATCH where there is no POST, for clients without PATCH (decisions 16, 22).
func (n *node) find(method string) *Route {
	for _, r := range n.routes {
		if r.Method == method {
			return r
		}
	}
	switch method {
	case http.MethodHead:
		return n.find(http.MethodGet)
	case http.MethodPost:
		for _, r := range n.routes {
			if r.Method == http.MethodPatch {
				return r
			}
		}
	}
	return nil
}

// table finds the node of a path. chi is used for matching alone: its tree
// prefers literals to placeholders and cleans nothing. What it cannot match is
// {name...}/end: those stand in ends, below what stands before the end.
type table struct {
	mux   *chi.Mux
	nodes map[string]*node
	ends  map[string]map[string]*node
}

func newTable(routes []Route, m *metrics) *table {
	t := &table{mux: chi.NewMux(), nodes: map[string]*node{}, ends: map[string]map[string]*node{}}
	nothing := func(http.ResponseWriter, *http.Request) {}
	for i := range routes {
		r := &routes[i]
		r.anchor = "#" + r.operation()
		pattern, end := chiPattern(r.Pattern)
		among, key := t.nodes, pattern
		if end != "" {
			if t.ends[pattern] == nil {
				t.ends[pattern] = map[string]*node{}
			}
			among, key = t.ends[pattern], end
		}
		n := among[key]
		if n == nil {
			n = &node{pattern: r.Pattern, metrics: m.route(r.Pattern)}
			among[key] = n
			t.mux.Get(pattern, nothing)
		}
		n.routes = append(n.routes, r)
		n.allow = allowed(n)
	}
	return t
}

// chiPattern writes {name...} as chi's wildcard, and gives the segment that
// stands behind it, if any.
func chiPattern(pattern string) (wild, end string) {
	before, end, found := strings.Cut(pattern, "...}")
	if !found {
		return pattern, ""
	}
	return before[:strings.LastIndexByte(before, '{')] + "*", strings.TrimPrefix(end, "/")
}

// wildName is the name of {name...}.
func wildName(pattern string) string {
	before, _, _ := strings.Cut(pattern, "...}")
	return before[strings.LastIndexByte(before, '{')+1:]
}

func allowed(n *node) string {
	methods := []string{http.MethodOptions}
	for _, r := range n.routes {
		methods = append(methods, r.Method)
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ")
}

// match finds the node of an escaped path and hands on its placeholders. A
// segment that ends a {name...} is a literal, which a name that ends so escapes:
// commits/a/status is the status of a, commits/a%2Fstatus a commit.
func (t *table) match(c *chi.Context, path string) *node {
	pattern := t.mux.Find(c, http.MethodGet, path)
	if ends := t.ends[pattern]; ends != nil {
		value := &c.URLParams.Values[len(c.URLParams.Values)-1]
		if at := strings.LastIndexByte(*value, '/'); at > 0 && ends[(*value)[at+1:]] != nil {
			n := ends[(*value)[at+1:]]
			*value = (*value)[:at]
			return n
		}
	}
	return t.nodes[pattern]
}

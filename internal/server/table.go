package server

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"arbor/internal/apidoc"
	"arbor/internal/plant"
	"arbor/internal/route"
	"arbor/internal/web"
)

// errorForm returns the form of errors for clients of the group.
func errorForm(g route.Group) web.Form {
	switch g {
	case route.Plants:
		return plant.Errors
	case route.Git:
		return web.PlainErrors
	default:
		return web.APIErrors
	}
}

// operation returns the anchor of the route on the documentation page, such as get-repos-owner-repo
// (decision 15).
func operation(r *route.Route) string { return apidoc.Operation(r.Method, r.Pattern) }

// endpoint is a route in the table.
type endpoint struct {
	*route.Route
	anchor string // of its documentation, with #
	need   tokenNeed
}

// node holds all routes of one pattern.
type node struct {
	pattern string
	suffix  string // of the last placeholder: .keys of {username}.keys
	group   route.Group
	routes  []endpoint
	open    bool   // see route.Route.WithoutToken
	file    bool   // see route.Route.AsFile
	lfs     bool   // see route.Route.ForLFS
	scim    bool   // see route.Route.ForSCIM
	streams bool   // see route.Route.Streamed: the address accepts uploads
	allow   string // the value of Allow
	metrics routeMetrics
}

// isOpen reports whether the node exists and is open to callers without a token; see
// route.Route.WithoutToken.
func (n *node) isOpen() bool { return n != nil && n.open }

// isNotImplemented reports whether the node is an unimplemented address of GitHub's API.
func (n *node) isNotImplemented() bool { return n.routes[0].Method == anyMethod }

// find returns the route for a method. GET also handles HEAD. PATCH also handles POST if there is no POST
// route, for clients without PATCH (decisions 16, 22).
func (n *node) find(method string) *endpoint {
	if n.isNotImplemented() {
		return &n.routes[0]
	}
	for i := range n.routes {
		if n.routes[i].Method == method {
			return &n.routes[i]
		}
	}
	switch method {
	case http.MethodHead:
		return n.find(http.MethodGet)
	case http.MethodPost:
		for i := range n.routes {
			if n.routes[i].Method == http.MethodPatch {
				return &n.routes[i]
			}
		}
	}
	return nil
}

// table finds the node of a path. It uses chi only for matching: chi prefers literals to placeholders and
// does not clean paths. chi cannot match {name...}/end; these patterns are in ends, keyed by the part
// before the end. An end may have several segments.
type table struct {
	mux   *chi.Mux
	nodes map[string]*node
	ends  map[string]map[string]*node
	named map[string]endpoint // those of the API, by method and pattern
}

func newTable(routes []route.Route, m *metrics) *table {
	t := &table{mux: chi.NewMux(), nodes: map[string]*node{}, ends: map[string]map[string]*node{},
		named: map[string]endpoint{}}
	nothing := func(http.ResponseWriter, *http.Request) {}
	notImplemented := m.route(notImplementedLabel) // one series for all of them
	for i := range routes {
		r := &routes[i]
		pattern, end := chiPattern(r.Pattern)
		if r.Numbered {
			pattern = strings.TrimSuffix(pattern, "}") + ":[0-9]+}"
		}
		among, key := t.nodes, pattern
		if end != "" {
			if t.ends[pattern] == nil {
				t.ends[pattern] = map[string]*node{}
			}
			among, key = t.ends[pattern], end
		}
		n := among[key]
		if n == nil {
			n = &node{pattern: r.Pattern, suffix: suffixOf(r.Pattern), group: r.Group}
			if n.metrics = notImplemented; r.Method != anyMethod {
				n.metrics = m.route(r.Pattern)
			}
			among[key] = n
			t.mux.Get(pattern, nothing)
		}
		if r.Method == anyMethod {
			n.routes, n.allow = []endpoint{{Route: r, need: newTokenNeed(r)}}, allMethods
			continue
		}
		to := endpoint{r, "#" + operation(r), newTokenNeed(r)}
		n.routes = append(n.routes, to)
		if r.Group == route.API {
			t.named[r.Method+" "+r.Pattern] = to
		}
		n.open, n.file, n.streams = n.open || r.Open, n.file || r.File, n.streams || r.Streams
		n.lfs = n.lfs || r.LFS
		n.scim = n.scim || r.SCIM
		n.allow = allowed(n)
	}
	return t
}

// suffixOf returns the literal after a pattern's last placeholder, such as .keys of {username}.keys.
func suffixOf(pattern string) string {
	if suffix := pattern[strings.LastIndexByte(pattern, '}')+1:]; strings.HasPrefix(suffix, ".") {
		return suffix
	}
	return ""
}

// chiPattern converts {name...} to chi's wildcard, and returns the segments after it, if any. {name}.end
// becomes a placeholder with a regular expression, which chi tries before other placeholders and whose
// value includes the end.
func chiPattern(pattern string) (wild, end string) {
	if suffix := suffixOf(pattern); suffix != "" {
		return strings.TrimSuffix(pattern, "}"+suffix) + ":.+" + regexp.QuoteMeta(suffix) + "}", ""
	}
	before, end, found := strings.Cut(pattern, "...}")
	if !found {
		return pattern, ""
	}
	return before[:strings.LastIndexByte(before, '{')] + "*", strings.TrimPrefix(end, "/")
}

// wildName returns the name of {name...}.
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

// match returns the node of an escaped path and stores its placeholders in c. The end of a {name...}
// pattern is a literal, so a name that ends with it must be escaped: commits/a/status is the status of a,
// commits/a%2Fstatus is a commit.
func (t *table) match(c *chi.Context, path string) *node {
	pattern := t.mux.Find(c, http.MethodGet, path)
	if ends := t.ends[pattern]; ends != nil {
		value := &c.URLParams.Values[len(c.URLParams.Values)-1]
		if rest, n := cutEnd(ends, *value); n != nil {
			*value = rest
			return n
		}
	}
	return t.nodes[pattern]
}

// maxEnd is the maximum number of segments after a {name...}.
const maxEnd = 8

// cutEnd cuts the longest end off a value and returns its node, or nil if the value has no end.
func cutEnd(ends map[string]*node, value string) (rest string, n *node) {
	at := len(value)
	for range maxEnd {
		if at = strings.LastIndexByte(value[:at], '/'); at <= 0 {
			break
		}
		if found := ends[value[at+1:]]; found != nil {
			rest, n = value[:at], found
		}
	}
	return rest, n
}

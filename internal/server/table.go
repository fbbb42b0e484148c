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

// errorForm is the form in which the group's clients read errors.
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

// operation names where the documentation page speaks of the route:
// get-repos-owner-repo (decision 15).
func operation(r *route.Route) string { return apidoc.Operation(r.Method, r.Pattern) }

// endpoint is a route as the table holds it.
type endpoint struct {
	*route.Route
	anchor string // of its documentation, with its #
	need   tokenNeed
}

// node is all routes of one pattern.
type node struct {
	pattern string
	suffix  string // of the last placeholder: .keys of {username}.keys
	group   route.Group
	routes  []endpoint
	open    bool   // see route.Route.WithoutToken
	file    bool   // see route.Route.AsFile
	streams bool   // see route.Route.Streamed: files are uploaded to the address
	allow   string // the value of Allow
	metrics routeMetrics
}

// isOpen reports whether the node is there and open to callers without a token, see route.Route.WithoutToken.
func (n *node) isOpen() bool { return n != nil && n.open }

// isNotImplemented reports the node of an address of GitHub's that is not there.
func (n *node) isNotImplemented() bool { return n.routes[0].Method == anyMethod }

// find returns the route for a method: HEAD is answered by GET, and POST by
// PATCH where there is no POST, for clients without PATCH (decisions 16, 22).
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

// table finds the node of a path. chi is used for matching alone: its tree
// prefers literals to placeholders and cleans nothing. What it cannot match is
// {name...}/end: those stand in ends, below what stands before the end. An end may have
// several segments.
type table struct {
	mux   *chi.Mux
	nodes map[string]*node
	ends  map[string]map[string]*node
}

func newTable(routes []route.Route, m *metrics) *table {
	t := &table{mux: chi.NewMux(), nodes: map[string]*node{}, ends: map[string]map[string]*node{}}
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
		n.routes = append(n.routes, endpoint{r, "#" + operation(r), newTokenNeed(r)})
		n.open, n.file, n.streams = n.open || r.Open, n.file || r.File, n.streams || r.Streams
		n.allow = allowed(n)
	}
	return t
}

// suffixOf is what ends the segment of a pattern's last placeholder.
func suffixOf(pattern string) string {
	if suffix := pattern[strings.LastIndexByte(pattern, '}')+1:]; strings.HasPrefix(suffix, ".") {
		return suffix
	}
	return ""
}

// chiPattern writes {name...} as chi's wildcard, and gives the segment that
// stands behind it, if any. {name}.end is one by a regular expression, which comes before
// other placeholders and whose value has the end.
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

// match finds the node of an escaped path and hands on its placeholders. What
// ends a {name...} is a literal, which a name that ends so escapes:
// commits/a/status is the status of a, commits/a%2Fstatus a commit.
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

// maxEnd is how many segments stand behind a {name...} at most.
const maxEnd = 8

// cutEnd cuts the longest end off a value, with its node; nil: it has none.
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

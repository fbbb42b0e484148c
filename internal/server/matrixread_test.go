package server_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/openapi"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// queries returns the queries to send in addition to the bare address.
func (m *matrix) queries(t *testing.T, r *route.Route, h *fixture.Home) []string {
	t.Helper()
	switch {
	case strings.HasSuffix(r.Pattern, "/info/refs"):
		return []string{"?service=git-upload-pack", "?service=git-receive-pack"}
	case r.Pattern == "/search/labels":
		return []string{"?q=bug&repository_id=" + h.Is["repository id"]}
	case r.Pattern == "/search/topics":
		return []string{"?q=nightshade", "?q=" + h.Mark}
	case strings.HasPrefix(r.Pattern, "/search/"):
		return []string{"?q=nightshade", "?q=belladonna+in:title", "?q=repo:guild/nightshade-grown+t",
			"?q=text"}
	case strings.HasSuffix(r.Pattern, "/contents/{path...}"), strings.HasSuffix(r.Pattern, "/readme"):
		return []string{"", "?ref=main"}
	case strings.HasSuffix(r.Pattern, "/memberships/orgs"):
		return []string{"", "?state=active"}
	}
	return append([]string{""}, m.heeded(t, r, h, "?per_page=100&state=all&filter=all")...)
}

// heeded returns the queries with a parameter that the route's handler reads; for the others the response
// is that of the bare address. An API handler reads the described parameters, which the watcher of each
// test verifies; a page's are those that it reads when permitted users request the bare address.
func (m *matrix) heeded(t *testing.T, r *route.Route, h *fixture.Home, list ...string) []string {
	t.Helper()
	var looked []string
	switch r.Group {
	case route.API:
		c, err := openapi.Default(m.Server.Server.Rights())
		testkit.NoError(t, err)
		looked, _ = c.Inputs(r.Method, r.Pattern)
	case route.Pages:
		looked = m.paged[r.Pattern]
		if looked != nil {
			break
		}
		for _, login := range []string{"keeper", "owner", "chief"} {
			m.ask(t, login, apitest.Case{Do: "GET " + h.Address(t, r.Pattern, nil),
				Headers: fixture.Headers(r)})
		}
		looked = m.asked.parameters(r)
		m.paged[r.Pattern] = looked
	default:
		return list
	}
	return slices.DeleteFunc(list, func(query string) bool {
		values, err := url.ParseQuery(query[1:])
		return err == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(values)),
			func(name string) bool { return slices.Contains(looked, name) })
	})
}

// orders are lists in orders that what nobody may know could change.
func (m *matrix) orders(t *testing.T, r *route.Route, h *fixture.Home) []string {
	t.Helper()
	switch {
	case strings.HasSuffix(r.Pattern, "/forks"):
		return []string{"?sort=stargazers", "?sort=newest"}
	case strings.HasSuffix(r.Pattern, "/issues"):
		return []string{"?sort=updated&state=all", "?sort=comments&state=all", "?per_page=1&state=all"}
	case strings.HasSuffix(r.Pattern, "/pulls"):
		return []string{"?sort=updated&state=all", "?sort=popularity&state=all", "?per_page=1"}
	}
	return m.heeded(t, r, h, "?per_page=1", "?per_page=1&page=2")
}

// passing is what the walker itself changes by downloading and by taking its time: after a text that stands
// in all of it, since looking for that is quick.
var passing = []struct {
	sign string
	is   *regexp.Regexp
}{
	{`"download_count":`, regexp.MustCompile(`"download_count":[0-9]+,`)},
	{` download`, regexp.MustCompile(`[0-9]+ downloads?`)},
	{`never used`, regexp.MustCompile(`never used`)},
	{`last used <time`, regexp.MustCompile(`last used <time[^>]*>[^<]*</time>`)},
	{`</time>`, regexp.MustCompile(`<time( [^<>]*>)[^<>]*</time>`)},
	// On a busy machine counting takes too long.
	{`ing ahead and behind`, regexp.MustCompile(`title="Counting ahead and behind takes long">…</span>`)},
	{` behind · `, regexp.MustCompile(`title="[0-9]+ commits? behind, [^"]*">[^<]*</span>`)},
	{`name="until"`, regexp.MustCompile(`name="until" value="[^"]*"`)},
}

// lasting is a body without what passes.
func lasting(body []byte) string {
	for _, p := range passing {
		if bytes.Contains(body, []byte(p.sign)) {
			body = p.is.ReplaceAll(body, []byte("$1"))
		}
	}
	return string(body)
}

// asked collects what the handlers of a server look for in requests, by method and pattern.
type asked struct {
	mu   sync.Mutex
	seen map[string]map[string]bool
}

// note notes what a handler looked for.
func (a *asked) note(method, pattern, in, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := method + " " + pattern
	if a.seen[at] == nil {
		a.seen[at] = map[string]bool{}
	}
	a.seen[at][in+" "+name] = true
}

// parameters are those of the query that a handler has looked for.
func (a *asked) parameters(r *route.Route) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []string{}
	for what := range a.seen[r.Method+" "+r.Pattern] {
		if name, found := strings.CutPrefix(what, web.InQuery+" "); found {
			list = append(list, name)
		}
	}
	return list
}

// missing are the described parameters and fields that no handler has looked for.
func (a *asked) missing(c *openapi.Checker, r *route.Route) (list []string) {
	query, fields := c.Inputs(r.Method, r.Pattern)
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.seen[r.Method+" "+r.Pattern]
	for _, name := range query {
		if !seen[web.InQuery+" "+name] {
			list = append(list, "the query parameter "+name)
		}
	}
	for _, name := range fields {
		if !seen[web.InBody+" "+name] {
			list = append(list, "the body's field "+name)
		}
	}
	return list
}

// described holds that each parameter and field that the documentation promises is looked for. (The other way
// round every test server watches: what is looked for must be described.)
func (m *matrix) described(t *testing.T, r *route.Route) {
	t.Helper()
	c, err := openapi.Default(m.Server.Server.Rights())
	testkit.NoError(t, err)
	if r.Right == route.Installation {
		m.Tokens[fixture.Bot] = m.BotToken(t, "") // one that is in force
	}
	made := map[string]string{}
	if r.Method == http.MethodGet && strings.HasSuffix(r.Pattern, "/git/refs/{ref...}") {
		made["ref"] = "heads" // only a prefix of a name gives a list, with pages
	}
	for _, body := range append([]string{"{}"}, c.Samples(r.Method, r.Pattern)...) {
		if len(m.asked.missing(c, r)) == 0 {
			return // so that no more happens than must
		}
		send := apitest.Case{Do: r.Method + " " + m.Homes[0].Address(t, r.Pattern, made),
			Headers: fixture.Headers(r)}
		if r.Method == http.MethodGet {
			send.Do += "?q=text"
		} else {
			send.Send = body
		}
		m.ask(t, fixture.Asker(r, "chief"), send)
	}
	for _, what := range m.asked.missing(c, r) {
		t.Errorf("%s %s: %s is described, and the handler does not look for it", r.Method, r.Pattern, what)
	}
}

package server_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/openapi"
	"arbor/internal/web"
)

// asked collects what the handlers of a server look for in requests, by method
// and pattern.
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

// missing are the described parameters and fields that nobody has looked for.
func (a *asked) missing(c *openapi.Checker, r *route.Route) (list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.seen[r.Method+" "+r.Pattern]
	query, fields := c.Inputs(r.Method, r.Pattern)
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

// A parameter or a field that the documentation promises, and that no handler
// looks for, is a promise that nobody keeps. (The other way round every test
// server watches: what is looked for must be described.)
func TestWhatIsDescribedIsLookedFor(t *testing.T) {
	t.Parallel()
	c, err := openapi.Default()
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{seen: map[string]map[string]bool{}}
	s := apitest.Start(t, db.SQLite)
	s.OnAsked(a.note)
	w := newWalker(t, s)
	for _, r := range fixture.Walked(s.Server.Routes()) {
		made := map[string]string{}
		if r.Method == http.MethodGet && strings.HasSuffix(r.Pattern, "/git/refs/{ref...}") {
			made["ref"] = "heads" // only what is no whole name is a list, with pages
		}
		for _, body := range append([]string{"{}"}, c.Samples(r.Method, r.Pattern)...) {
			if len(a.missing(c, &r)) == 0 {
				break // so that no more happens to the estate than must
			}
			send := apitest.Case{Do: r.Method + " " + w.Homes[0].Address(t, r.Pattern, made),
				Headers: fixture.Headers(&r)}
			if r.Method == http.MethodGet {
				send.Do += "?q=text"
			} else {
				send.Send = body
			}
			w.ask(t, fixture.Asker(&r, "chief"), send)
		}
		for _, what := range a.missing(c, &r) {
			t.Errorf("%s %s: %s is described, and the handler does not look for it", r.Method,
				r.Pattern, what)
		}
	}
}

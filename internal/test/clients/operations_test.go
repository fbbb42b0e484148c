//go:build long

package clients

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// story is something that people do with a client, on a server of its own.
type story func(t *testing.T, s *apitest.Server)

// client is how a program that was written for GitHub reaches a server.
type client struct {
	address func(*testing.T) string // of the server
	stories map[string]story
	// ask sends the fixture's requests that no story sends, as a program with this client would.
	ask func(*testing.T, *apitest.Server, []*fixture.Request)
}

// run runs the client's stories on one engine. It then sends requests for the API operations that no story
// completed, and fails for those that still do not succeed. Other groups of routes have their own clients:
// git, browsers, programs for plants.
func (c *client) run(t *testing.T, engine db.Engine) {
	t.Helper()
	var all reached
	t.Run("stories", func(t *testing.T) {
		for name, story := range c.stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var s *apitest.Server
				t.Cleanup(func() { all.add(s) }) // when the server has stopped, and logged all
				s = apitest.StartOn(t, engine, c.address(t))
				story(t, s)
			})
		}
	})
	switch {
	case t.Failed():
	case all.servers < len(c.stories):
		t.Log("not every story was asked for, so not every operation is")
	default:
		t.Run("others", func(t *testing.T) { c.askOthers(t, engine, &all) })
		for _, r := range all.missing() {
			t.Errorf("no story gets anywhere with %s: write it in one", operation(r))
		}
	}
}

// samples are operations that are asked for although stories do so as well: a new one must find that
// this way works.
var samples = []string{"GET /users/{username}", "GET /repos/{owner}/{repo}/compare/{basehead...}",
	"DELETE /repos/{owner}/{repo}/issues/{number}/lock",
	"POST /repos/{owner}/{repo}/issues/{number}/comments", "PATCH /repos/{owner}/{repo}/pulls/{number}",
	"PATCH /orgs/{org}"}

// askOthers sends a request for each operation that was not reached.
func (c *client) askOthers(t *testing.T, engine db.Engine, all *reached) {
	var s *apitest.Server
	t.Cleanup(func() { all.add(s) })
	others := all.missing()
	for _, r := range all.table {
		if engine == db.SQLite && slices.Contains(samples, operation(&r)) {
			others = append(others, &r)
		}
	}
	if len(others) == 0 {
		return
	}
	s = apitest.StartOn(t, engine, c.address(t))
	w := fixture.New(t, s)
	var requests []*fixture.Request
	for _, r := range others {
		requests = append(requests, w.Request(t, r, w.Homes[0]))
	}
	c.ask(t, s, requests)
}

// anyPort is the address of a server that any client can reach.
func anyPort(*testing.T) string { return "127.0.0.1:0" }

// reached is what requests of several servers had success with.
type reached struct {
	mu      sync.Mutex
	servers int
	table   []route.Route
	done    map[string]bool // METHOD PATTERN
}

// add counts the requests of a server that has stopped.
func (r *reached) add(s *apitest.Server) {
	if s == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servers++
	r.table = s.Server.Routes()
	if r.done == nil {
		r.done = map[string]bool{}
	}
	for _, q := range s.Log.Requests() {
		if q.Status < http.StatusBadRequest {
			r.done[q.Method+" "+q.Route] = true
		}
	}
}

// hooked is the operation that webhooks of other servers send, and no client.
const hooked = "POST /repos/{owner}/{repo}/mirror-hook"

// missing are the operations of the API that were not reached.
func (r *reached) missing() []*route.Route {
	var missing []*route.Route
	for i := range r.table {
		if to := &r.table[i]; to.Group == route.API && !r.done[operation(to)] && operation(to) != hooked {
			missing = append(missing, to)
		}
	}
	return missing
}

// operation is METHOD PATTERN.
func operation(r *route.Route) string { return r.Method + " " + r.Pattern }

// operations are the routes of the API.
func operations(table []route.Route) []string {
	var all []string
	for _, r := range table {
		if r.Group == route.API {
			all = append(all, operation(&r))
		}
	}
	slices.Sort(all)
	return all
}

// A client that only ever fails with an operation does not reach it.
func TestUnreachedOperationsAreNamed(t *testing.T) {
	t.Parallel()
	var r reached
	t.Run("requests", func(t *testing.T) {
		var s *apitest.Server
		t.Cleanup(func() { r.add(s) })
		s = apitest.Start(t, db.SQLite)
		s.Check(t, apitest.Case{Do: "GET /users", Status: http.StatusOK})
		s.Check(t, apitest.Case{Do: "GET /users/nobody", Status: http.StatusNotFound})
	})
	var missing []string
	for _, to := range r.missing() {
		missing = append(missing, operation(to))
	}
	for operation, want := range map[string]bool{"GET /users": false, "GET /users/{username}": true,
		"POST /user/repos": true, "GET /healthz": false, "POST /plants": false} {
		if slices.Contains(missing, operation) != want {
			t.Errorf("that %s is missing should be %t", operation, want)
		}
	}
}

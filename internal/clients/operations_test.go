package clients

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/route"
)

// story is something that people do with a client, on a server of its own.
type story func(t *testing.T, s *apitest.Server)

// tell tells a client's stories on one engine, and fails for each operation of
// the API that none of them brought to a good end. The other groups of routes
// have their own clients: git, browsers, whoever keeps plants.
func tell(t *testing.T, engine db.Engine, address func(*testing.T) string, stories map[string]story) {
	t.Helper()
	var all reached
	t.Run("stories", func(t *testing.T) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var s *apitest.Server
				t.Cleanup(func() { all.add(s) }) // when the server has stopped, and logged all
				s = apitest.StartOn(t, engine, address(t))
				story(t, s)
			})
		}
	})
	switch {
	case t.Failed():
	case all.servers < len(stories):
		t.Log("not every story was asked for, so not every operation is")
	default:
		for _, operation := range all.missing() {
			t.Errorf("no story gets anywhere with %s", operation)
		}
	}
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

// missing are the operations of the API that were not reached.
func (r *reached) missing() []string {
	var missing []string
	for _, operation := range operations(r.table) {
		if !r.done[operation] {
			missing = append(missing, operation)
		}
	}
	return missing
}

// operations are the routes of the API, as METHOD PATTERN.
func operations(table []route.Route) []string {
	var all []string
	for _, r := range table {
		if r.Group == route.API {
			all = append(all, r.Method+" "+r.Pattern)
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
	missing := r.missing()
	for operation, want := range map[string]bool{"GET /users": false, "GET /users/{username}": true, "POST /user/repos": true, "GET /healthz": false, "POST /plants": false} {
		if slices.Contains(missing, operation) != want {
			t.Errorf("that %s is missing should be %t", operation, want)
		}
	}
}

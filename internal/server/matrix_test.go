package server_test

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo/deleted"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// nowhere is the name of a repository that is not there.
const nowhere = "nowhere"

// matrix asks every route as every kind of caller.
//
//   - matrix_test.go: the pass
//   - matrixcaller_test.go: the callers, and what each must get
//   - matrixcheck_test.go, matrixform_test.go: what is asked of each answer
//   - matrixright_test.go: by which rights requests write
//   - matrixstate_test.go: what happens between the check of a right and its use
//   - matrixchange_test.go: what must not change, and what is seen after a change
type matrix struct {
	*walker
	ran    *statements
	rights *rights
	gate   *apitest.Gate       // of the worker that empties repositories that were removed
	holder *db.DB              // another process's handle, as it were
	asked  *asked              // what handlers look for
	paged  map[string][]string // the parameters of pages, by pattern
	read   map[string]string   // what outsiders read, by request
	tags   map[string]string   // the tags of what is going to be out of sight, by request
}

// A forgotten check on one route is how servers of this kind were broken most often. So every route meets
// every kind of caller, in repositories that they see and in others, and all that can be said of an answer is
// asked of each. By default five callers ask, on SQLite; with the build tag long all of them, and all kinds
// of tokens.
func TestMatrix(t *testing.T) {
	t.Parallel()
	if testenv.Race {
		t.Skip("asks one request after another")
	}
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		m := newMatrix(t, engine)
		routes := fixture.Walked(m.Server.Server.Routes())
		m.readPublic(t)
		m.hide(t)
		step := func(name string, fn func(t *testing.T, r *route.Route)) {
			t.Run(name, func(t *testing.T) {
				for _, r := range routes {
					fn(t, &r)
				}
			})
		}
		step("read", m.readAll)
		t.Run("leaves no trace", m.leavesNoTrace)
		t.Run("elsewhere", func(t *testing.T) { m.elsewhere(t, routes) })
		step("wrong", m.wrong)
		order := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
		slices.SortStableFunc(routes, func(a, b route.Route) int { // what is added first goes then
			return cmp.Or(strings.Compare(a.Pattern, b.Pattern),
				slices.Index(order, a.Method)-slices.Index(order, b.Method))
		})
		step("act", m.act)
		t.Run("forms", m.forms)
		step("described", m.described)
		t.Run("changes", m.changes)
	})
}

func newMatrix(t *testing.T, engine db.Engine) *matrix {
	t.Helper()
	ran, gate, address, rights := &statements{}, apitest.NewGate(), dbtest.URL(t, engine), &rights{}
	heard := &asked{seen: map[string]map[string]bool{}}
	s := apitest.Start(t, engine, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: address, Trace: func(ctx context.Context, query string) {
			ran.trace(ctx, query)
			gate.Trace(ctx, query)
		}, Writing: rights.note})
		o.KeepDeleted = deleted.Time
	})
	t.Cleanup(gate.Lift)
	holder, err := db.Open(t.Context(), db.Options{URL: address})
	testkit.NoError(t, err)
	t.Cleanup(func() { holder.Close() })
	s.OnAsked(heard.note)
	return &matrix{newWalker(t, s), ran, rights, gate, holder, heard, map[string][]string{}, nil, nil}
}

// hide adds the private repositories, which have former names: their marks.
func (m *matrix) hide(t *testing.T) {
	t.Helper()
	m.Hide(t)
	for _, h := range m.Homes {
		if h.Private {
			m.OK(t, "keeper", "PATCH /repos/"+h.Owner+"/"+h.Name, `{"name":"`+h.Mark+`-grown"}`)
			h.Name = h.Mark + "-grown"
		}
	}
	testkit.NoError(t, m.Server.Server.Settle(t.Context()))
}

// statements are those that requests ran since the last look.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) trace(ctx context.Context, query string) {
	if i := web.From(ctx); i.ID == "" || i.ForHook {
		return // a worker's
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, query)
}

// take returns the statements since the last look, without those that ask whether anything has changed:
// caches under these numbers are not by name.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(s.list, func(query string) bool {
		return strings.Contains(query, "FROM generations WHERE topic") && len(query) < 100
	})
	s.list = nil
	return list
}

// exchange asks, and checks the answer.
func (m *matrix) exchange(t *testing.T, e *exchange) {
	t.Helper()
	m.issue(t, e.as)
	*e = *m.again(t, e, e.c)
	if e.route.Method == http.MethodGet && e.Status == http.StatusAccepted { // until a worker has counted
		testkit.NoError(t, m.Server.Server.Settle(t.Context()))
		*e = *m.again(t, e, e.c)
	}
	for _, check := range checks {
		check(m, t, e)
	}
}

// readAll sends a route's request as each caller, also for missing repositories.
func (m *matrix) readAll(t *testing.T, r *route.Route) {
	t.Helper()
	if r.Method != http.MethodGet {
		return
	}
	for _, h := range m.visited(r) {
		m.readAt(t, r, h, h.Address(t, r.Pattern, nil))
		if strings.Contains(r.Pattern, "/reviews/{id}") {
			m.readAt(t, r, h, h.Address(t, r.Pattern, map[string]string{"id": h.Is["pending"]}))
		}
	}
	if onRepo(r) && r.Right != route.Anyone {
		absent := *m.Homes[0]
		absent.Name, absent.Private = nowhere, true
		m.readAt(t, r, &absent, absent.Address(t, r.Pattern, nil))
	}
}

func (m *matrix) readAt(t *testing.T, r *route.Route, h *fixture.Home, path string) {
	t.Helper()
	queries := m.queries(t, r, h)
	if m.Engine == db.PostgreSQL && h.Name == nowhere {
		queries = queries[:1]
	}
	for i, query := range queries {
		for _, c := range m.readers(r, h) {
			// A limited token asks for the one that is more than the bare address, if there is one.
			if c.kind != "" && onRepo(r) && r.Group != route.Git && i < len(queries)-1 ||
				c.kind != "" && m.Engine == db.PostgreSQL && i > 0 {
				continue
			}
			m.exchange(t, &exchange{route: r, home: h, as: c, want: wantRead(r, c, h, path, query),
				c: apitest.Case{Do: "GET " + path + query, Headers: fixture.Headers(r)}})
		}
	}
}

// elsewhere asks for things of another repository: ids of comments, reviews and the like count for the
// whole server, and objects are named by what is in them. Who guesses one, and rules a repository of their
// own, must not reach through it what is elsewhere.
func (m *matrix) elsewhere(t *testing.T, routes []route.Route) {
	own, foreign := m.Homes[0], m.Homes[2]
	before := m.digest(t)
	mixed := *own
	mixed.Mark, mixed.Is = foreign.Mark, maps.Clone(foreign.Is)
	for _, r := range routes {
		body := fixture.Body(&r)
		named := strings.Contains(r.Pattern, "id}") || strings.Contains(r.Pattern, "{sha") ||
			strings.Contains(r.Pattern, "...}") ||
			strings.Contains(body, "{commit}") || strings.Contains(body, "{tree}")
		if !onRepo(&r) || !named || strings.HasSuffix(r.Pattern, "/matching-refs/{ref...}") ||
			strings.HasSuffix(r.Pattern, "/rules/branches/{branch...}") || fixture.NamesMain(&r) {
			continue // these exist in every repository
		}
		if r.Method == http.MethodPut && strings.Contains(r.Pattern, "/contents/") {
			continue // which makes a file of that name
		}
		path := mixed.Address(t, r.Pattern, nil)
		for _, path := range []string{path, lastOf(own.Address(t, r.Pattern, nil), path)} {
			e := m.again(t, &exchange{route: &r, home: own, as: caller{"neighbour", ""}, want: refused},
				apitest.Case{Do: r.Method + " " + path, Headers: fixture.Headers(&r),
					Send: fixture.Body(&r, map[string]string{"new": "new", "head": foreign.Is["commit"],
						"sha": foreign.Is["blob"], "mark": foreign.Mark}, foreign.Is)})
			hasStatus(m, t, e)
			hasForm(m, t, e)
		}
	}
	m.unchanged(t, "a request for what is elsewhere", before)
}

// lastOf is an address of the caller's own, but for the last thing that it names, which is another's.
func lastOf(own, other string) string {
	names, others := strings.Split(own, "/"), strings.Split(other, "/")
	for i := len(names) - 1; i >= 0 && len(names) == len(others); i-- {
		if names[i] != others[i] {
			names[i] = others[i]
			return strings.Join(names, "/")
		}
	}
	return other
}

// act sends a request first as callers without the right, then as callers who lose the right during the
// request, and then as one who has it. If the last succeeds, the others must have changed nothing.
func (m *matrix) act(t *testing.T, r *route.Route) {
	t.Helper()
	if r.Method == http.MethodGet {
		return
	}
	for _, h := range m.visited(r) {
		q := m.Request(t, r, h)
		before, who := m.digest(t), caller{q.Who, ""}
		for _, c := range m.actors(q, h) {
			want := m.wantAct(q, c, h)
			switch {
			case want != allowed, c == poor && readsOnly(r):
				m.exchange(t, &exchange{route: r, home: h, as: c, want: want, c: q.Case})
			case c.kind != "" && c != poor:
				m.issue(t, c)
				who = c // the least token that may
			}
			if absent := (&fixture.Home{Owner: h.Owner, Name: nowhere}); h == m.Homes[0] && onRepo(r) &&
				c.kind == "" {
				e := &exchange{route: r, home: h, as: c, c: q.Case, want: refusal(r, c, absent, account.Pull)}
				e.c, e.home = m.at(e, nowhere), absent
				m.exchange(t, e)
			}
		}
		for _, s := range states {
			if s.applies(m, q, h) {
				s.try(m, t, q)
			}
		}
		m.unchanged(t, q.Do, before)
		m.does(t, q, who)
	}
}

// does sends the request as a caller with the right. It must leave a row in the audit log.
func (m *matrix) does(t *testing.T, q *fixture.Request, who caller) {
	t.Helper()
	newest := m.newestEvent(t)
	m.rights.take()
	a := m.ask(t, who.name(), q.Case)
	m.byRight(t, q, m.rights.take())
	if a.Status >= 300 {
		t.Errorf("%s as %s, who may: %d %s\n%s", q.Do, who.name(), a.Status, a.Body, q.Send)
		return
	}
	m.audited(t, q, a, newest)
}

// forms sends what pages send. A form does what the API lets the person do who sends it; here nobody's form
// is taken, and none about a repository that the person does not see, which looks like one that is not
// there.
func (m *matrix) forms(t *testing.T) {
	for _, r := range m.Server.Server.Routes() {
		if !fixture.IsForm(&r) || r.Right == route.Anyone {
			continue
		}
		absent := *m.Homes[0]
		absent.Name, absent.Private = nowhere, true
		homes := append(slices.Clone(m.visited(&r)), &absent)
		if !onRepo(&r) {
			homes = homes[:1]
		}
		for _, h := range homes {
			for _, login := range m.people(h) {
				m.form(t, &r, h, caller{login, ""})
			}
		}
	}
}

func (m *matrix) form(t *testing.T, r *route.Route, h *fixture.Home, c caller) {
	t.Helper()
	e := &exchange{route: r, home: h, as: c, want: allowed, c: apitest.Case{
		Do: "POST " + h.Address(t, r.Pattern, nil), Send: "a=b",
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}}
	switch {
	case onRepo(r):
		e.want = refusal(r, c, h, fixture.RoleOf(r.Right))
	case c.login == "" || !c.valid():
		e.want = http.StatusUnauthorized
	}
	m.exchange(t, e)
	if c.login != "" {
		return
	}
	e.c.Headers["Accept"] = "text/html"
	a := m.again(t, e, e.c)
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
		a.errorf(t, "leads to %q", a.Header.Get("Location"))
	}
}

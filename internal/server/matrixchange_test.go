package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// outsiders are those who must not notice what happens in private. On PostgreSQL the same statements run.
func (m *matrix) outsiders() []string {
	if !testenv.Long || m.Engine == db.PostgreSQL {
		return []string{"stranger"}
	}
	return []string{"stranger", "", "neighbour"}
}

// readPublic reads all that outsiders can read while there is nothing private.
func (m *matrix) readPublic(t *testing.T) {
	t.Helper()
	m.everything(t, []string{"stranger"}) // what is computed when somebody asks is there afterwards
	m.read = m.everything(t, m.outsiders())
}

// leavesNoTrace holds that what happens in private shows in nothing that outsiders see: no count that
// grows, no order that changes, no reference from there, no notice to the one who was mentioned there.
func (m *matrix) leavesNoTrace(t *testing.T) {
	all := m.Homes
	m.Homes = all[:2]
	after := m.everything(t, m.outsiders())
	m.Homes = all
	alike(t, m.read, after)
}

// alike fails for each request that is not answered as before, unless it is about what passes.
func alike(t *testing.T, before, after map[string]string, passes ...string) {
	t.Helper()
	for request, body := range after {
		if body != before[request] && !slices.ContainsFunc(passes, func(prefix string) bool {
			return strings.HasPrefix(request, prefix)
		}) {
			from := max(0, differ(before[request], body)-200)
			t.Errorf("%s: before\n%.500s\nafter\n%.500s", request, before[request][from:], body[from:])
		}
	}
}

// differ returns the length of what two texts begin with both.
func differ(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// everything is what each of some callers reads, by request.
func (m *matrix) everything(t *testing.T, logins []string) map[string]string {
	t.Helper()
	testkit.NoError(t, m.Server.Server.Settle(t.Context())) // else statistics come between two looks
	all := map[string]string{}
	for _, r := range fixture.Walked(m.Server.Server.Routes()) {
		if r.Method != http.MethodGet || r.Pattern == "/docs" ||
			r.Pattern == "/dashboard/notifications/{thread_id}" {
			continue // the last marks a thread as read
		}
		if strings.Contains(r.Pattern, "mirror") {
			continue // those that fail run again between two looks
		}
		if strings.HasSuffix(r.Pattern, "{app_slug}/advanced") || strings.Contains(r.Pattern, "/deliveries") ||
			strings.HasSuffix(r.Pattern, "/settings/hooks/{hook_id}") {
			continue // deliveries that failed, which these show, are tried again between two looks
		}
		for _, h := range m.Homes {
			if !onRepo(&r) && h != m.Homes[0] {
				continue
			}
			for _, query := range append(m.queries(t, &r, h), m.orders(t, &r, h)...) {
				for _, login := range logins {
					do := "GET " + h.Address(t, r.Pattern, nil) + query
					a := m.ask(t, login, apitest.Case{Do: do, Headers: fixture.Headers(&r)})
					all[do+" as "+login] = strings.Join(a.Header["Link"], " ") + "\n" + lasting(a.Body)
				}
			}
		}
	}
	return all
}

// changes lists changes that make things visible or invisible. Afterwards no response may show hidden
// things, even if it was read and cached before. To add a change, add a line. By default three are made,
// each for the first callers affected.
var changes = []struct {
	name, as, do, send string
	becomes            func(public, private *fixture.Home) // what everybody's roles are then
	concerned          []string
}{
	{"made public", "owner", "PATCH /repos/guild/hemlock", `{"private":false}`,
		func(public, _ *fixture.Home) { public.Private = false }, []string{"holder", "stranger", ""}},
	{"made private", "owner", "PATCH /repos/guild/hemlock", `{"private":true}`,
		func(public, _ *fixture.Home) { public.Private = true }, []string{"holder", "stranger", ""}},
	{"the collaborator removed", "owner", "DELETE /repos/guild/foxtail/collaborators/writer", "",
		func(_, private *fixture.Home) {
			private.Changed["writer"], private.Is["assignee"] = account.None, "keeper"
		}, []string{"writer"}},
	{"the member removed", "owner", "DELETE /orgs/guild/members/member", "",
		func(public, private *fixture.Home) {
			public.Changed["member"], private.Changed["member"] = account.None, account.None
		}, []string{"member"}},
	{"transferred", "chief", "POST /repos/guild/foxtail/transfer", `{"new_owner":"holder"}`,
		func(_, private *fixture.Home) {
			private.Changed["owner"], private.Owner = account.None, "holder"
		}, []string{"owner", "stranger"}},
}

// changes creates new repositories for these and fills all caches before each change.
func (m *matrix) changes(t *testing.T) {
	m.Homes, m.tags = nil, map[string]string{}
	m.Build(t, "guild", "hemlock", true)
	m.Build(t, "guild", "foxtail", true)
	for _, h := range m.Homes {
		h.Changed = map[string]account.Role{}
	}
	m.OK(t, "reader", "DELETE /repos/reader/hemlock", "") // a fork, which would stay public
	var before []string
	for i, change := range changes {
		if !testenv.Long {
			change.concerned = change.concerned[:1]
		}
		if i > 2 && !testenv.Long {
			break
		}
		t.Run(change.name, func(t *testing.T) {
			if i == 0 || !slices.Equal(change.concerned, before) { // else they have read it all
				m.readAs(t, change.concerned, func(e *exchange) { m.again(t, e, e.c) })
			}
			before = change.concerned
			m.OK(t, change.as, change.do, change.send)
			testkit.NoError(t, m.Server.Server.Settle(t.Context()))
			change.becomes(m.Homes[0], m.Homes[1])
			m.readAs(t, change.concerned, func(e *exchange) { m.exchange(t, e) })
		})
	}
	t.Run("deleted", m.deleted)
}

// readAs calls fn with each request that reads, as some people.
func (m *matrix) readAs(t *testing.T, logins []string, fn func(e *exchange)) {
	t.Helper()
	for _, r := range fixture.Walked(m.Server.Server.Routes()) {
		if r.Method != http.MethodGet {
			continue
		}
		for _, h := range m.visited(&r) {
			path := h.Address(t, r.Pattern, nil)
			for _, query := range m.queries(t, &r, h) {
				for _, login := range logins {
					c := caller{login, ""}
					fn(&exchange{route: &r, home: h, as: c, want: wantRead(&r, c, h, path, query),
						c: apitest.Case{Do: "GET " + path + query, Headers: fixture.Headers(&r)}})
				}
			}
		}
	}
}

// deleted holds that a deleted repository that can be restored looks as one that is gone: to those who
// owned it and worked in it, to strangers, everywhere.
func (m *matrix) deleted(t *testing.T) {
	m.OK(t, "owner", "PATCH /repos/guild/hemlock", `{"private":false}`)
	m.Homes[0].Private = false
	for _, h := range m.Homes {
		m.Crowd(t, h.Owner, h.Name)
		m.OK(t, "chief", "DELETE /repos/"+h.Owner+"/"+h.Name, "")
	}
	testkit.NoError(t, m.Server.Server.Settle(t.Context()))
	logins := []string{"chief", "owner", "keeper", ""}
	if m.Engine == db.PostgreSQL { // where the same statements run
		logins = logins[:2]
	}
	if !testenv.Long {
		logins = logins[:1]
	}
	m.everything(t, logins) // what is computed when somebody asks is there afterwards
	hidden := m.everything(t, logins)
	dbtest.Exec(t, m.DB, `UPDATE kept_repos SET due_at = 0`)
	removed(t, m.walker.Server, m.gate)
	// The operator's pages show what is stored, and the audit log who was refused in between. What people
	// wrote there counts for them until it is removed.
	alike(t, hidden, m.everything(t, logins), "GET /site/", "GET /settings/account ", "GET /settings/deleted",
		"GET /admin/audit-log")
}

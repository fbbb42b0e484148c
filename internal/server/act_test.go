package server_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// Every route that changes something meets every caller who must not, with a
// request that changes something in the hands of one who may, which is proved
// at the end. A forgotten check is how readers became writers.
func TestNobodyActsBeyondTheirRight(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet || r.Nobody { // the code in the address is the right
				continue
			}
			if !onRepo(&r) {
				w.actGlobally(t, &r)
				continue
			}
			for _, h := range w.visited() {
				w.act(t, &r, h)
			}
		}
	})
}

// act has everybody try, and then the one who may.
func (w *walker) act(t *testing.T, r *route.Route, h *fixture.Home) {
	t.Helper()
	q := w.Request(t, r, h)
	for _, login := range w.callers(h) {
		w.tryTo(t, r, h, q, login)
	}
	if a := w.ask(t, q.Who, q.Case); a.Status >= 300 {
		t.Errorf("%s as who may: %d %s\n%s", q.Do, a.Status, a.Body, q.Send)
	}
}

// tryTo is one attempt of who must not.
func (w *walker) tryTo(t *testing.T, r *route.Route, h *fixture.Home, q *fixture.Request, login string) {
	t.Helper()
	c, role := q.Case, h.Role(login)
	want := w.refusal(r, login, role, max(account.Pull, q.Rule.Role))
	mine := login == "keeper" || login == "chief" && strings.Contains(r.Pattern, "reaction")
	if q.Rule.Owner {
		mine = login == q.Who || login == "chief"
	}
	if want == 0 && (mine || !q.Rule.Own && !q.Rule.Owner) {
		return // the right is there, and one who has it acts at the end
	}
	a := w.ask(t, login, c)
	w.check(t, login, c.Do, a)
	form(t, r, c, login, a)
	switch {
	case want == 0 && (a.Status < 400 || a.Status == http.StatusUnauthorized):
		t.Errorf("%s as %q, whose it is not: %d %s", c.Do, login, a.Status, a.Body)
	case want != 0 && a.Status != want:
		t.Errorf("%s as %q (%s): %d, want %d: %s", c.Do, login, role, a.Status, want, a.Body)
	case want == http.StatusNotFound:
		absent := c
		method, path, _ := strings.Cut(c.Do, " ")
		absent.Do = method + " " + nowhereOf(h, path)
		same(t, login, c.Do, a, w.ask(t, login, absent))
	}
}

// nowhereOf is nowhere for a repository that may be a spare one.
func nowhereOf(h *fixture.Home, path string) string {
	before, after, _ := strings.Cut(path, "/"+h.Owner+"/")
	_, rest, found := strings.Cut(after, "/")
	if found {
		rest = "/" + rest
	}
	return before + "/" + h.Owner + "/nowhere" + rest
}

// actGlobally is act for a route of no repository.
func (w *walker) actGlobally(t *testing.T, r *route.Route) {
	t.Helper()
	q := w.Request(t, r, w.Homes[0])
	c := q.Case
	for _, login := range []string{"", "wrong", "expired"} {
		a := w.ask(t, login, c)
		w.check(t, login, c.Do, a)
		form(t, r, c, login, a)
		if a.Status != http.StatusUnauthorized {
			t.Errorf("%s as %q: %d %s", c.Do, login, a.Status, a.Body)
		}
	}
	for _, login := range q.Rule.Outsiders {
		a := w.ask(t, login, c)
		w.check(t, login, c.Do, a)
		form(t, r, c, login, a)
		want := http.StatusForbidden
		if r.Right == route.SiteAdmin {
			want = http.StatusNotFound
		}
		if a.Status != want {
			t.Errorf("%s as %q: %d %s", c.Do, login, a.Status, a.Body)
		}
	}
	if a := w.ask(t, q.Who, c); a.Status >= 300 {
		t.Errorf("%s as who may: %d %s", c.Do, a.Status, a.Body)
	}
}

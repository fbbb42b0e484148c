package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// A route that nobody thought of when Apps came would be open to all of them. Every route is asked for with
// the token of an installation that has no permission but to read metadata, and then with one that has all:
// the first does nothing and reads nothing that is private, and the second what its permissions are for.
func TestAppsNeedPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	w := newWalker(t, s)
	w.Hide(t)
	w.Tokens["poor"] = w.BotToken(t, `{"permissions":{"metadata":"read"}}`)
	private := w.Homes[slices.IndexFunc(w.Homes, func(h *fixture.Home) bool {
		return h.Private && h.Owner == "guild"
	})]
	for _, r := range fixture.Walked(s.Server.Routes()) {
		need, known := route.NeedOf(r.Method, r.Pattern)
		if !known {
			t.Errorf("%s %s stands in no line of what routes need of tokens", r.Method, r.Pattern)
		}
		if r.Right == route.Installation {
			continue // package app tests these
		}
		permission, _, never := need.ByApp()
		q := w.Request(t, &r, private)
		a := w.ask(t, "poor", q.Case)
		w.tellsPoor(t, &r, q, private, a, permission)
		if r.Method != http.MethodGet || r.Right == route.App || r.Group == route.Git {
			continue
		}
		rich := w.ask(t, fixture.Bot, q.Case)
		refused := rich.Status == http.StatusForbidden || rich.Status == http.StatusUnauthorized
		if refused != (never && r.Right == route.SignedIn) && r.Right != route.SiteAdmin {
			t.Errorf("%s with all permissions: %d %s", q.Do, rich.Status, rich.Body)
		}
		if onRepo(&r) && !never && rich.Status >= 400 && !mayLack(&r, fixture.Bot) {
			t.Errorf("%s with all permissions: %d %s", q.Do, rich.Status, rich.Body)
		}
	}
}

// tellsPoor checks what a token without permissions was answered.
func (w *walker) tellsPoor(
	t *testing.T, r *route.Route, q *fixture.Request, h *fixture.Home, a *apitest.Answer, permission string,
) {
	t.Helper()
	free := permission == "" || permission == "metadata" && roleFor(r, "") <= account.Push
	told := strings.Contains(string(a.Body), h.Mark)
	switch {
	case r.Method != http.MethodGet && !readsOnly(r) && !r.Nobody && a.Status < 400:
		t.Errorf("%s without permissions: %d %s", q.Do, a.Status, a.Body)
	case r.Method == http.MethodGet && !free && told && onRepo(r):
		t.Errorf("%s without permissions tells of %s: %d %.300s", q.Do, h.Mark, a.Status, a.Body)
	case a.Status >= 500:
		t.Errorf("%s: %d %s", q.Do, a.Status, a.Body)
	}
}

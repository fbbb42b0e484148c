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

// Every address that can be read is read, so that all caches are full; then another
// process renames the owner, and no answer may show the old login again. Requests with the
// old login are led to the new one.
func TestARenameShowsEverywhere(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		read := func(visit func(r *route.Route, c apitest.Case)) {
			for _, r := range fixture.Walked(s.Server.Routes()) {
				if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/docs") {
					continue
				}
				for _, h := range w.Homes {
					if h.Owner != "guild" && (h.Private || onRepo(&r)) {
						q := w.Request(t, &r, h)
						visit(&r, q.Case)
					}
				}
			}
		}
		read(func(_ *route.Route, c apitest.Case) { w.ask(t, "chief", c) })
		elsewhere := account.New(s.DB, nil)
		if _, err := elsewhere.Rename(t.Context(), nil, account.User, "holder", "steward"); err != nil {
			t.Fatal(err)
		}
		read(func(r *route.Route, c apitest.Case) {
			former := c
			c.Do = strings.Replace(c.Do, "/holder", "/steward", 1)
			a := w.ask(t, "chief", c)
			if a.Status >= 400 && a.Status != http.StatusNotFound && onRepo(r) && r.Group != route.Git {
				t.Errorf("%s: %d %s", c.Do, a.Status, a.Body)
			}
			// Addresses that people gave, and texts that they wrote, stay.
			shown := strings.NewReplacer("oleander-holder", "", "and holder/chamomile#1", "",
				"copyright holders", "", "placeholder", "").Replace(string(a.Body))
			if at := strings.Index(shown, "holder"); at >= 0 &&
				// the names of then
				!strings.HasSuffix(r.Pattern, "/audit-log") && r.Pattern != "/site/audit" &&
				!strings.HasSuffix(r.Pattern, "/deliveries/{delivery_id}") {
				t.Errorf("%s: ...%s...", c.Do, shown[max(0, at-120):min(len(shown), at+80)])
			}
			if !onRepo(r) || r.Pattern == "/users/{username}/starred/{owner}/{repo}" {
				return
			}
			if old := w.ask(t, "chief", former); old.Status != http.StatusMovedPermanently {
				t.Errorf("%s: %d %s", former.Do, old.Status, old.Body)
			} else if to := old.Header.Get("Location"); !strings.Contains(to, "/steward/") ||
				strings.Contains(to, "holder") {
				t.Errorf("%s leads to %s", former.Do, to)
			}
		})
		w.refusesFormerLogin(t)
	})
}

// refusesFormerLogin checks that a former login can be taken only by its former owner.
func (w *walker) refusesFormerLogin(t *testing.T) {
	t.Helper()
	for _, c := range []apitest.Case{
		{Do: "POST /admin/users", Send: `{"login":"Holder"}`, Status: 422},
		{Do: "POST /admin/organizations", Send: `{"login":"holder","admin":"guest"}`, Status: 422},
		{Do: "PATCH /admin/users/guest", Send: `{"login":"holder"}`, Status: 422},
		{Do: "PATCH /admin/users/guest", Send: `{"login":"steward"}`, Status: 422},
		{Do: "PATCH /admin/users/guest", Send: `{"login":"settings"}`, Status: 422},
		{Do: "PATCH /admin/users/guild", Send: `{"login":"guild2"}`, Status: 404},
		{Do: "PATCH /admin/organizations/guest", Send: `{"login":"guest2"}`, Status: 404},
		{Do: "PATCH /admin/users/steward", Send: `{"login":"Steward"}`, Status: 202},
		{Do: "PATCH /admin/users/steward", Send: `{"login":"holder"}`, Status: 202,
			Want: `{"url":"{base}/users/holder"}`},
		{Do: "GET /repos/steward/chamomile", Status: 301,
			Has: map[string]string{"Location": "{base}/repos/holder/chamomile"}},
		{Do: "GET /repos/holder/chamomile", Status: 200, Want: `{"full_name":"holder/chamomile"}`},
		// Both names are former ones.
		{Do: "PATCH /repos/holder/chamomile", Send: `{"name":"mint"}`, Status: 200},
		{Do: "GET /repos/steward/chamomile", Status: 301,
			Has: map[string]string{"Location": "{base}/repos/holder/mint"}},
		{Do: "GET /repos/steward/mint", Status: 301,
			Has: map[string]string{"Location": "{base}/repos/holder/mint"}},
		{Do: "GET /repos/holder/chamomile", Status: 301,
			Has: map[string]string{"Location": "{base}/repos/holder/mint"}},
		{Do: "PATCH /admin/organizations/guild", Send: `{"login":"lodge"}`, Status: 202},
		{Do: "GET /repos/guild/goldenrod", Status: 301,
			Has: map[string]string{"Location": "{base}/repos/lodge/goldenrod"}},
	} {
		c.As = "chief"
		w.Check(t, c)
	}
	w.Check(t, apitest.Case{Do: "GET /repos/guild/nightshade", Status: 404}) // as invisible as ever
}

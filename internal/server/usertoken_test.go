//go:build long

package server_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// A GitHub App that acts for a user may by each route what both may. Each route that reads is asked as keeper, who sees
// all repositories: by an App that may everything in the organization, by one that may read metadata there, and by the
// first while its installation is suspended.
func TestUserTokensByRoute(t *testing.T) {
	t.Parallel()
	w := newWalker(t, apitest.Start(t, db.SQLite))
	w.Hide(t)
	w.settle(t)
	all := allPermissions(w)
	strong := w.NewApp(t, "owner", app.Manifest{Name: "strong", Public: true, Permissions: all})
	weak := w.NewApp(t, "owner", app.Manifest{Name: "weak", Public: true})
	on := strong.Install(t, "guild")
	weak.Install(t, "guild")
	tokens := map[string]map[string]string{"strong": apitest.Bearer(strong.UserToken(t, "keeper").Value),
		"weak": apitest.Bearer(weak.UserToken(t, "keeper").Value)}
	var private []*fixture.Home
	for _, h := range w.Homes {
		if h.Private {
			private = append(private, h)
		}
	}
	routes := slices.DeleteFunc(fixture.Walked(w.Server.Server.Routes()), func(r route.Route) bool {
		return r.Method != http.MethodGet || r.Group != route.API && r.Group != route.Git
	})
	ask := func(r *route.Route, h *fixture.Home, headers map[string]string) *apitest.Answer {
		do := "GET " + h.Address(t, r.Pattern, nil)
		switch {
		case strings.HasSuffix(r.Pattern, "/info/refs"):
			do += "?service=git-upload-pack"
		case strings.HasPrefix(r.Pattern, "/search/"):
			do += "?q=" + h.Mark
		case r.Group == route.API:
			do += "?per_page=100&state=all&filter=all"
		}
		c := apitest.Case{Do: do, Headers: map[string]string{}}
		for _, from := range []map[string]string{fixture.Headers(r), headers} {
			for name, value := range from {
				c.Headers[name] = value
			}
		}
		return w.ask(t, "", c)
	}
	person := apitest.Bearer(w.TokenOf(t, "keeper"))
	opened := 0
	for _, r := range routes {
		homes := private
		if !onRepo(&r) {
			homes = private[:1]
		}
		permission, level, cannot := r.Need.ByUser()
		of := !cannot && !scope.OfAccount(permission) && all.Has(permission, level) && onRepo(&r) &&
			r.Right != route.SignedIn
		for _, h := range homes {
			own := ask(&r, h, person)
			for name, headers := range tokens {
				a := ask(&r, h, headers)
				switch {
				case a.Status < 300 && own.Status >= 300:
					t.Errorf("%s of %s by the %s App: %d, and the person gets %d", r.Pattern, h.Name, name, a.Status,
						own.Status)
				case h.Owner == "holder" && onRepo(&r) && a.Status < 400:
					t.Errorf("%s of %s, where no App is installed, by the %s App: %d", r.Pattern, h.Name, name, a.Status)
				case h.Owner == "guild" && of && name == "strong" && a.Status != own.Status:
					t.Errorf("%s of %s by the strong App: %d, and the person gets %d: %s", r.Pattern, h.Name, a.Status,
						own.Status, a.Body)
				case name == "weak" && of && permission != "" && permission != "metadata" && a.Status < 400:
					t.Errorf("%s of %s by the weak App, which lacks %s: %d", r.Pattern, h.Name, permission, a.Status)
				}
				if of && name == "strong" && a.Status < 300 {
					opened++
				}
				tellsOf(t, &r, name, a, private, func(p *fixture.Home) bool {
					return p.Owner == "guild" && (name == "strong" || permission == "" || permission == "metadata")
				})
			}
		}
	}
	if opened < 100 {
		t.Errorf("the App with all permissions opens %d routes", opened)
	}
	if err := w.Server.Server.Forge().Apps.Suspend(t.Context(), 0, on.ID, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range routes {
		for _, h := range private {
			a := ask(&r, h, tokens["strong"])
			if onRepo(&r) && a.Status < 400 {
				t.Errorf("%s of %s by an App that is suspended: %d", r.Pattern, h.Name, a.Status)
			}
			tellsOf(t, &r, "suspended", a, private, func(*fixture.Home) bool { return false })
			if !onRepo(&r) {
				break
			}
		}
	}
}

// allPermissions are those that some route asks an App for.
func allPermissions(w *walker) scope.Permissions {
	all := scope.Permissions{}
	for _, r := range w.Server.Server.Routes() {
		if name, level, has := strings.Cut(r.Need.App, "="); has && (level == "write" || all[name] == "") {
			all[name] = level
		}
	}
	return all
}

// notForApps are routes by which a GitHub App cannot act for a person who may, with the reason.
var notForApps = map[string]string{
	"POST /repos/{owner}/{repo}/forks": "the fork would be where no installation reaches it",
}

// A GitHub App that acts for a user changes by each route on a repository what the user may change, if it has the
// permission of the route there, and nothing without it.
func TestUserTokensChangeByRoute(t *testing.T) {
	t.Parallel()
	w := newWalker(t, apitest.Start(t, db.SQLite))
	w.Hide(t)
	w.settle(t)
	strong := w.NewApp(t, "owner", app.Manifest{Name: "strong", Public: true, Permissions: allPermissions(w)})
	weak := w.NewApp(t, "owner", app.Manifest{Name: "weak", Public: true})
	strong.Install(t, "guild")
	weak.Install(t, "guild")
	tokens := map[string]map[string]string{}
	with := func(a *apitest.App, q *fixture.Request) apitest.Case {
		key := a.Slug + " " + q.Who
		if tokens[key] == nil {
			tokens[key] = apitest.Bearer(a.UserToken(t, q.Who).Value)
		}
		c := q.Case
		c.Headers = maps.Clone(c.Headers)
		maps.Copy(c.Headers, tokens[key])
		return c
	}
	home := w.Homes[slices.IndexFunc(w.Homes, func(h *fixture.Home) bool { return h.Private && h.Owner == "guild" })]
	order := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	routes := fixture.Walked(w.Server.Server.Routes())
	slices.SortStableFunc(routes, func(a, b route.Route) int { // what is added first goes then
		return cmp.Or(strings.Compare(a.Pattern, b.Pattern),
			slices.Index(order, a.Method)-slices.Index(order, b.Method))
	})
	changed := 0
	for _, r := range routes {
		permission, _, cannot := r.Need.ByUser()
		if !onRepo(&r) || readsOnly(&r) || fetches(&r) || r.Nobody || r.Group == route.Pages {
			continue
		}
		q := w.Request(t, &r, home)
		if strings.Contains(q.Who, "[bot]") || q.Who == fixture.Robot {
			continue
		}
		if a := w.ask(t, "", with(weak, q)); a.Status < 400 {
			t.Errorf("%s by the weak App, which lacks %q: %d", q.Do, permission, a.Status)
		}
		a := w.ask(t, "", with(strong, q))
		_, excepted := notForApps[r.Method+" "+r.Pattern]
		switch {
		case (cannot || excepted) && a.Status < 400:
			t.Errorf("%s by an App: %d", q.Do, a.Status)
		case !cannot && !excepted && a.Status >= 300:
			t.Errorf("%s by the strong App for %s, who may: %d %s", q.Do, q.Who, a.Status, a.Body)
		case a.Status < 300:
			changed++
		}
	}
	if changed < 80 {
		t.Errorf("the App with all permissions changes by %d routes", changed)
	}
}

// tellsOf holds that an answer names no private repository but those that it may.
func tellsOf(
	t *testing.T, r *route.Route, name string, a *apitest.Answer, private []*fixture.Home,
	may func(*fixture.Home) bool,
) {
	t.Helper()
	if a.Status >= 400 {
		return
	}
	for _, p := range private {
		if !may(p) && strings.Contains(string(a.Body), p.Owner+"/"+p.Name) {
			t.Errorf("%s by the %s App tells of %s/%s", r.Pattern, name, p.Owner, p.Name)
		}
	}
}

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

// A GitHub App that acts for a user may by each route what both may. Each route that reads is asked as keeper, who
// sees all repositories: by an App that may everything in the organization, by one that may read metadata there,
// and by the first while its installation is suspended.
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
	private, routes := w.private(), w.readers()
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
			own := w.read(t, &r, h, person)
			for name, headers := range tokens {
				a := w.read(t, &r, h, headers)
				switch {
				case a.Status < 300 && own.Status >= 300:
					t.Errorf("%s of %s by the %s App: %d, and the person gets %d", r.Pattern, h.Name, name, a.Status,
						own.Status)
				case h.Owner == "holder" && onRepo(&r) && a.Status < 400:
					t.Errorf("%s of %s, where no App is installed, by the %s App: %d", r.Pattern, h.Name, name, a.Status)
				case h.Owner == "guild" && of && name == "strong" && a.Status/100 != own.Status/100:
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
			a := w.read(t, &r, h, tokens["strong"])
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

// private are the private homes.
func (w *walker) private() (list []*fixture.Home) {
	for _, h := range w.Homes {
		if h.Private {
			list = append(list, h)
		}
	}
	return list
}

// readers are the routes that read, but pages.
func (w *walker) readers() []route.Route {
	return slices.DeleteFunc(fixture.Walked(w.Server.Server.Routes()), func(r route.Route) bool {
		return r.Method != http.MethodGet || r.Group != route.API && r.Group != route.Git
	})
}

// read asks a route that reads about a home.
func (w *walker) read(t *testing.T, r *route.Route, h *fixture.Home, headers map[string]string) *apitest.Answer {
	t.Helper()
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
	"POST /repos/{owner}/{repo}/forks":          "the fork would be where no installation reaches it",
	"POST /repos/{owner}/{repo}/merge-upstream": "the parent is where no installation reaches it",
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
	with := func(a *apitest.App) func(string) map[string]string {
		return func(who string) map[string]string {
			key := a.Slug + " " + who
			if tokens[key] == nil {
				tokens[key] = apitest.Bearer(a.UserToken(t, who).Value)
			}
			return tokens[key]
		}
	}
	home := w.private()[slices.IndexFunc(w.private(), func(h *fixture.Home) bool { return h.Owner == "guild" })]
	changed := w.changes(t, home, with(weak), with(strong), onRepo, func(r *route.Route) bool {
		_, _, cannot := r.Need.ByUser()
		return cannot || notForApps[r.Method+" "+r.Pattern] != ""
	})
	if changed < 80 {
		t.Errorf("the App with all permissions changes by %d routes", changed)
	}
}

// changes asks each of the routes that change something in a home as who may, with a weak token, which must change
// nothing, and then with a strong one, which must change it unless it cannot. It returns by how many it did.
func (w *walker) changes(
	t *testing.T, home *fixture.Home, weak, strong func(who string) map[string]string,
	walked, cannot func(*route.Route) bool,
) (changed int) {
	t.Helper()
	with := func(headers func(string) map[string]string, q *fixture.Request) apitest.Case {
		c := q.Case
		c.Headers = map[string]string{}
		maps.Copy(c.Headers, q.Headers)
		maps.Copy(c.Headers, headers(q.Who))
		return c
	}
	order := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	routes := fixture.Walked(w.Server.Server.Routes())
	slices.SortStableFunc(routes, func(a, b route.Route) int { // what is added first goes then
		return cmp.Or(strings.Compare(a.Pattern, b.Pattern),
			slices.Index(order, a.Method)-slices.Index(order, b.Method))
	})
	for _, r := range routes {
		if !walked(&r) || readsOnly(&r) || fetches(&r) || r.Nobody || r.Group == route.Pages {
			continue
		}
		q := w.Request(t, &r, home)
		if strings.Contains(q.Who, "[bot]") || q.Who == fixture.Robot {
			continue
		}
		if a := w.ask(t, "", with(weak, q)); a.Status < 400 {
			t.Errorf("%s by the weak token of %s: %d", q.Do, q.Who, a.Status)
		}
		a := w.ask(t, "", with(strong, q))
		switch {
		case cannot(&r) && a.Status < 400:
			t.Errorf("%s by an App: %d", q.Do, a.Status)
		case !cannot(&r) && a.Status >= 300:
			t.Errorf("%s by the strong token of %s, who may: %d %s", q.Do, q.Who, a.Status, a.Body)
		case a.Status < 300:
			changed++
		}
	}
	return changed
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

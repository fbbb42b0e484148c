//go:build long

package server_test

import (
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
	all := scope.Permissions{}
	for _, r := range w.Server.Server.Routes() {
		if name, level, has := strings.Cut(r.Need.App, "="); has {
			if level == "read" && all[name] == "" || level == "write" {
				all[name] = level
			}
		}
	}
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
		of := !cannot && !scope.OfAccount(permission) && all.Has(permission, level) && onRepo(&r) && r.Right != route.SignedIn
		for _, h := range homes {
			own := ask(&r, h, person)
			for name, headers := range tokens {
				a := ask(&r, h, headers)
				switch {
				case a.Status < 300 && own.Status >= 300:
					t.Errorf("%s of %s by the %s App: %d, and the person gets %d", r.Pattern, h.Name, name, a.Status, own.Status)
				case h.Owner == "holder" && onRepo(&r) && a.Status < 400:
					t.Errorf("%s of %s, where no App is installed, by the %s App: %d", r.Pattern, h.Name, name, a.Status)
				case h.Owner == "guild" && of && name == "strong" && a.Status != own.Status:
					t.Errorf("%s of %s by the strong App: %d, and the person gets %d: %s", r.Pattern, h.Name, a.Status, own.Status, a.Body)
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

// tellsOf holds that an answer names no private repository but those that it may.
func tellsOf(t *testing.T, r *route.Route, name string, a *apitest.Answer, private []*fixture.Home, may func(*fixture.Home) bool) {
	t.Helper()
	if a.Status >= 400 || strings.HasPrefix(r.Pattern, "/search/") && !strings.Contains(string(a.Body), `"total_count":`) {
		return
	}
	for _, p := range private {
		if !may(p) && strings.Contains(string(a.Body), p.Owner+"/"+p.Name) {
			t.Errorf("%s by the %s App tells of %s/%s", r.Pattern, name, p.Owner, p.Name)
		}
	}
}

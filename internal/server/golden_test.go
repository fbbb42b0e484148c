package server_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

var updateRoutes = flag.Bool("update-routes", false, "write testdata/routes.txt anew")

// The whole interface stands in one file, a line a route: its address, the kind of clients it is for, the
// right it needs, what it wants of a classic token, of a fine-grained one and of an App, and if that differs of an App
// that acts for a user, what is special
// about it and its handler. So a review sees each right that changes. A route that says nothing of tokens
// fails, and so does a permission that GitHub does not have, which no App could be granted.
func TestTheTableIsWrittenDown(t *testing.T) {
	t.Parallel()
	var lines []string
	documented := handlers(t)
	for _, r := range apitest.Start(t, db.SQLite).Server.Routes() {
		if r.Need == (route.Need{}) {
			t.Errorf("%s %s does not say what it wants of a token: see route.Needs", r.Method, r.Pattern)
		}
		for _, permission := range []string{r.Need.Fine, r.Need.App, r.Need.User} {
			name, level, _ := strings.Cut(permission, "=")
			_, err := scope.NewPermissions(map[string]string{name: level})
			if permission != route.None && permission != route.Never && permission != route.Nobody && err != nil {
				t.Errorf("%s %s: %v", r.Method, r.Pattern, err)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s | %s | %s | %s |%s | %s\n", r.Pattern, r.Method,
			groupNames[r.Group], r.Right, tokenOf(r.Need), traits(&r),
			strings.Join(documented[r.Method+" "+r.Pattern], " ")))
	}
	slices.Sort(lines)
	table := strings.Join(lines, "")
	golden := filepath.Join("testdata", "routes.txt")
	if *updateRoutes {
		testkit.NoError(t, os.WriteFile(golden, []byte(table), 0o644))
	}
	written, err := os.ReadFile(golden)
	testkit.NoError(t, err)
	for line := range strings.Lines(table) {
		if !strings.Contains("\n"+string(written), "\n"+line) {
			t.Errorf("not in %s: %s", golden, line)
		}
	}
	for line := range strings.Lines(string(written)) {
		if !strings.Contains("\n"+table, "\n"+line) {
			t.Errorf("only in %s: %s", golden, line)
		}
	}
	if table != string(written) {
		t.Errorf("%s is not the table: if the table is as you want it, run make routes and look at the difference", golden)
	}
}

var groupNames = map[route.Group]string{route.API: "api", route.Plants: "plants", route.Git: "git",
	route.Pages: "pages"}

// tokenOf is what a route wants of a token, in words.
func tokenOf(n route.Need) string {
	if n.Scopes == scope.Whole {
		return "everything"
	}
	all := cmp.Or(scope.Including(n.Scopes), "any") + "; " + permissionOf(n.Fine) + "; " + permissionOf(n.App)
	if n.User != route.Never {
		all += "; " + permissionOf(n.User)
	}
	return all
}

func permissionOf(permission string) string {
	switch permission {
	case route.None:
		return "any"
	case route.Never, route.Nobody:
		return "never"
	}
	return permission
}

// traits are what is special about a route, in words.
func traits(r *route.Route) string {
	var list []string
	if r.Limit > 0 {
		list = append(list, fmt.Sprintf("body=%d", r.Limit))
	}
	for _, trait := range []struct {
		name string
		has  bool
	}{
		{"unpacked", r.Unpack != nil}, {"streamed", r.Streams}, {"unadmitted", r.Unadmitted},
		{"any media", r.AnyMedia && !r.File}, {"file", r.File}, {"digits", r.Numbered},
		{"archived", r.Archived}, {"without token", r.Open}, {"for nobody", r.Nobody}, {"by client", r.Client},
		{"without factor", r.Factorless},
		{"from elsewhere", r.Elsewhere}, {"counted", r.Limited},
		{"takes space", r.Space == route.SpaceAlways},
		{"takes space before pushes", r.Space == route.SpaceBeforePush},
		{"takes no space", r.Space == route.SpaceNever},
	} {
		if trait.has {
			list = append(list, trait.name)
		}
	}
	if list == nil {
		return ""
	}
	return " " + strings.Join(list, ", ")
}

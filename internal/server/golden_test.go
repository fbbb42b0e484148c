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
)

var updateRoutes = flag.Bool("update-routes", false, "write testdata/routes.txt anew")

// The whole interface stands in one file, a line a route: its address, the kind of clients it is for,
// the right it needs, what it wants of a token, what is special about it and its handler. So a review sees
// each right that changes. A route that says nothing of tokens fails.
func TestTheTableIsWrittenDown(t *testing.T) {
	t.Parallel()
	var lines []string
	documented := handlers(t)
	for _, r := range apitest.Start(t, db.SQLite).Server.Routes() {
		if r.Need == (route.Need{}) {
			t.Errorf("%s %s does not say what it wants of a token: see route.Needs", r.Method, r.Pattern)
		}
		lines = append(lines, fmt.Sprintf("%s %s | %s | %s | %s |%s | %s\n", r.Pattern, r.Method,
			groupNames[r.Group], r.Right, tokenOf(r.Need), traits(&r),
			strings.Join(documented[r.Method+" "+r.Pattern], " ")))
	}
	slices.Sort(lines)
	table := strings.Join(lines, "")
	golden := filepath.Join("testdata", "routes.txt")
	if *updateRoutes {
		if err := os.WriteFile(golden, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
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
	fine := n.Fine
	switch fine {
	case route.None:
		fine = "any"
	case route.Never:
		fine = "no fine-grained"
	}
	return cmp.Or(scope.Including(n.Scopes), "any") + "; " + fine
}

// traits are what is special about a route, in words.
func traits(r *route.Route) string {
	var b strings.Builder
	if r.Limit > 0 {
		fmt.Fprintf(&b, " body=%d", r.Limit)
	}
	if r.Unpack != nil {
		b.WriteString(" unpacked")
	}
	if r.Streams {
		b.WriteString(" streamed")
	}
	if r.Unadmitted {
		b.WriteString(" unadmitted")
	}
	return b.String()
}

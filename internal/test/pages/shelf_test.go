package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

const shelfAt = "/dashboard/plants"

// Plants are added, listed and removed; what the store refuses is said, and what was typed stays.
func TestPlants(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "root-gardener")
		s.Visit(t, "", "GET "+shelfAt).Leads(t, "/login?return_to=%2Fdashboard%2Fplants")
		s.Visit(t, "alice", "GET "+shelfAt).Shows(t, 200, "No plants yet")
		s.Visit(t, "alice", "POST "+shelfAt, "id", "7", "name", evil, "tag", "tree"+evil).Leads(t, shelfAt)
		s.Visit(t, "alice", "POST "+shelfAt, "id", "-9223372036854775808", "name", "Moss", "tag", "").Leads(t,
			shelfAt)
		s.Visit(t, "alice", "GET "+shelfAt).Shows(t, 200, evil, "tree"+evil,
			"-9223372036854775808")
		s.Visit(t, "bob", "GET "+shelfAt).Shows(t, 200, "!Moss", "No plants yet")
		s.Visit(t, "root-gardener", "GET "+shelfAt).Shows(t, 200, "Moss")
		s.Visit(t, "bob", "POST "+shelfAt, "id", "7", "name", "Kept", "tag", "herb").Shows(t, 400,
			"exists already", `value="Kept"`, `value="herb"`)
		s.Visit(t, "bob", "POST "+shelfAt, "id", "seven", "name", "Kept").Shows(t, 400, "integer", `value="seven"`)
		s.Visit(t, "bob", "POST "+shelfAt, "id", "8", "name", "").Shows(t, 400, "name")
		s.Visit(t, "bob", "POST "+shelfAt, "remove", "7").Shows(t, 400, "no plant with this id")
		s.Visit(t, "bob", "POST "+shelfAt, "remove", "../x").Shows(t, 400)
		s.Visit(t, "alice", "POST "+shelfAt, "remove", "-9223372036854775808").Leads(t, shelfAt)
		s.Visit(t, "root-gardener", "POST "+shelfAt, "remove", "7").Leads(t, shelfAt)
		s.Visit(t, "alice", "GET "+shelfAt).Shows(t, 200, "No plants yet")
		s.Visit(t, "", "POST "+shelfAt, "remove", "7").Leads(t, "/login")
	})
}

// A long list is read page by page, each plant once, in a constant number of statements; a long name fills no
// page.
func TestPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		s.User(t, "alice")
		add := func(id int, name string) {
			s.Check(t, apitest.Case{Do: "POST /plants", As: "alice", Status: 200,
				Headers: map[string]string{"Content-Type": "application/json"},
				Send:    fmt.Sprintf(`{"id": %d, "name": "%s"}`, id, name)})
		}
		add(1, "one")
		costsAsMuch(t, s, statements, "alice", []string{shelfAt}, func() {
			for n := 2; n <= 120; n++ {
				add(n, fmt.Sprint("plant-", n, "-"))
			}
			add(121, strings.Repeat("x", 400_000))
			add(122, "behind the long one")
		})
		seen := map[string]bool{}
		path := shelfAt
		for pages := 0; path != "" && pages < 10; pages++ {
			a := s.Visit(t, "alice", "GET "+path).Shows(t, 200)
			if len(a.Body) > 100_000 {
				t.Errorf("%s has %d bytes", path, len(a.Body))
			}
			for _, row := range strings.Split(string(a.Body), `<td class="mono">`)[1:] {
				id, _, _ := strings.Cut(row, "<")
				if seen[id] {
					t.Errorf("%s is there twice", id)
				}
				seen[id] = true
			}
			_, rest, more := strings.Cut(string(a.Body), `href="?after=`)
			path = ""
			if more {
				after, _, _ := strings.Cut(rest, `"`)
				path = shelfAt + "?after=" + after
			}
		}
		if len(seen) != 122 {
			t.Errorf("%d plants, want 122", len(seen))
		}
		for _, after := range []string{"x", "9223372036854775807", "-1", "%00"} {
			s.Visit(t, "alice", "GET "+shelfAt+"?after="+after).Shows(t, 200)
		}
	})
}

package shelf_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

const evil = `"><img onerror=x src=x><script>alert(2)</script>'`

const at = "/dashboard/plants"

// Plants are added, listed and removed; what the store refuses is said, and what was typed stays.
func TestPlants(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"alice", "bob"} {
			s.User(t, login)
		}
		s.Admin(t, "root-gardener")
		s.Visit(t, "", "GET "+at).Leads(t, "/login?return_to=%2Fdashboard%2Fplants")
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "No plants yet")
		s.Visit(t, "alice", "POST "+at, "id", "7", "name", evil, "tag", "tree"+evil).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "id", "-9223372036854775808", "name", "Moss", "tag", "").Leads(t,
			at)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, evil, "tree"+evil,
			"-9223372036854775808")
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "!Moss", "No plants yet")
		s.Visit(t, "root-gardener", "GET "+at).Shows(t, 200, "Moss")
		s.Visit(t, "bob", "POST "+at, "id", "7", "name", "Kept", "tag", "herb").Shows(t, 400,
			"exists already", `value="Kept"`, `value="herb"`)
		s.Visit(t, "bob", "POST "+at, "id", "seven", "name", "Kept").Shows(t, 400, "integer", `value="seven"`)
		s.Visit(t, "bob", "POST "+at, "id", "8", "name", "").Shows(t, 400, "name")
		s.Visit(t, "bob", "POST "+at, "remove", "7").Shows(t, 400, "no plant with this id")
		s.Visit(t, "bob", "POST "+at, "remove", "../x").Shows(t, 400)
		s.Visit(t, "alice", "POST "+at, "remove", "-9223372036854775808").Leads(t, at)
		s.Visit(t, "root-gardener", "POST "+at, "remove", "7").Leads(t, at)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "No plants yet")
		s.Visit(t, "", "POST "+at, "remove", "7").Leads(t, "/login")
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
		few := s.Cost(t, statements, "alice", at)
		for n := 2; n <= 120; n++ {
			add(n, fmt.Sprint("plant-", n, "-"))
		}
		add(121, strings.Repeat("x", 400_000))
		add(122, "behind the long one")
		if many := s.CostWithin(t, statements, "alice", at, few+2); many > few+2 || many > 20 {
			t.Errorf("%d statements for one plant, %d for many", few, many)
		}
		seen := map[string]bool{}
		path := at
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
				path = at + "?after=" + after
			}
		}
		if len(seen) != 122 {
			t.Errorf("%d plants, want 122", len(seen))
		}
		for _, after := range []string{"x", "9223372036854775807", "-1", "%00"} {
			s.Visit(t, "alice", "GET "+at+"?after="+after).Shows(t, 200)
		}
	})
}

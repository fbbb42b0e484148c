package server_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// Ids of comments, reviews and the like count for the whole server, and objects
// are named by what is in them: so who guesses one, and rules a repository of
// his own, must not reach through it what is elsewhere.
func TestThingsOfOtherRepositories(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		own, foreign := w.Homes[0], w.Homes[2]
		if own.Mark != "goldenrod" || foreign.Mark != "nightshade" {
			t.Fatal("the homes have other places")
		}
		w.Homes = []*fixture.Home{foreign}
		before := w.everything(t, []string{"keeper"})
		mixed := *own
		mixed.Mark, mixed.Is = foreign.Mark, maps.Clone(foreign.Is)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if !onRepo(&r) {
				continue
			}
			body := fixture.Body(&r)
			named := strings.Contains(r.Pattern, "id}") || strings.Contains(r.Pattern, "{sha") ||
				strings.Contains(r.Pattern, "...}") ||
				strings.Contains(body, "{commit}") || strings.Contains(body, "{tree}")
			if !named || strings.HasSuffix(r.Pattern, "/matching-refs/{ref...}") ||
				fixture.NamesMain(&r) {
				continue // these exist in every repository
			}
			// A new name, a branch and a file are none of these: their own would be made.
			if r.Method == http.MethodPut && strings.Contains(r.Pattern, "/contents/") {
				continue
			}
			path := mixed.Address(t, r.Pattern, nil)
			c := apitest.Case{Do: r.Method + " " + path, Headers: fixture.Headers(&r),
				Send: fixture.Body(&r, map[string]string{"new": "new", "head": foreign.Is["commit"],
					"sha": foreign.Is["blob"], "mark": foreign.Mark}, foreign.Is)}
			a := w.ask(t, "neighbour", c)
			form(t, &r, c, "neighbour", a)
			if a.Status < 400 || a.Status >= 500 {
				t.Errorf("%s reached what is elsewhere: %d %s", c.Do, a.Status, a.Body)
			}
		}
		after := w.everything(t, []string{"keeper"})
		for asked, body := range after {
			if body != before[asked] {
				t.Errorf("%s: before\n%.1000s\nafter\n%.1000s", asked, before[asked], body)
			}
		}
	})
}

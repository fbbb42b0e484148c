package server_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/apitest"
)

// Ids of comments, reviews and the like count for the whole server, and objects
// are named by what is in them: so who guesses one, and rules a repository of
// his own, must not reach through it what is elsewhere.
func TestThingsOfOtherRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.hide(t)
		own, foreign := w.homes[0], w.homes[2]
		if own.mark != "goldenrod" || foreign.mark != "nightshade" {
			t.Fatal("the homes have other places")
		}
		w.homes = []*home{foreign}
		before := w.everything(t, []string{"keeper"})
		mixed := *own
		mixed.mark, mixed.is = foreign.mark, maps.Clone(foreign.is)
		for _, r := range s.Server.Routes() {
			if !onRepo(&r) {
				continue
			}
			how := acts[r.Method+" "+strings.TrimSuffix(strings.Replace(r.Pattern, "/repos/{owner}/{repo}", "", 1), "/{owner}/{repo}")]
			named := strings.Contains(r.Pattern, "id}") || strings.Contains(r.Pattern, "{sha") || strings.Contains(r.Pattern, "...}") ||
				strings.Contains(how.body, "{commit}") || strings.Contains(how.body, "{tree}")
			if !named || strings.HasSuffix(r.Pattern, "/matching-refs/{ref...}") || strings.HasSuffix(r.Pattern, "/tree/{path...}") {
				continue // these exist in every repository
			}
			// A new name, a branch and a file are none of these: their own would be made.
			if r.Method == http.MethodPut && strings.Contains(r.Pattern, "/contents/") {
				continue
			}
			path := mixed.address(t, r.Pattern, nil)
			c := apitest.Case{Do: r.Method + " " + path, Headers: headersFor(&r, how),
				Send: fill(how.body, map[string]string{"new": "new", "head": foreign.is["commit"], "sha": foreign.is["blob"], "mark": foreign.mark}, foreign.is)}
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

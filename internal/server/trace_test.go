package server_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// What happens in private leaves no trace in what outsiders see: no count that
// grows, no order that changes, no reference from there, no notice to the one
// who was mentioned there. So all that they can read is the same to the byte
// before and after.
func TestPrivateThingsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		outsiders := []string{"stranger", "", "neighbour"}
		if !testenv.Long || s.Engine == db.PostgreSQL { // where the same statements run
			outsiders = outsiders[:1]
		}
		w.everything(t, []string{"stranger"}) // what is computed when somebody asks is there afterwards
		before := w.everything(t, outsiders)
		public := w.Homes
		w.Hide(t)
		w.Homes = public
		for asked, body := range w.everything(t, outsiders) {
			if body != before[asked] {
				t.Errorf("%s: before\n%.1500s\nafter\n%.1500s", asked, before[asked], body)
			}
		}
	})
}

// passing is what the walker itself changes by downloading and by taking its time: after a text that stands
// in all of it, since looking for that is quick.
var passing = []struct {
	sign string
	is   *regexp.Regexp
}{
	{`"download_count":`, regexp.MustCompile(`"download_count":[0-9]+,`)},
	{` download`, regexp.MustCompile(`[0-9]+ downloads?`)},
	{`never used`, regexp.MustCompile(`never used`)},
	{`last used <time`, regexp.MustCompile(`last used <time[^>]*>[^<]*</time>`)},
	{`</time>`, regexp.MustCompile(`<time( [^<>]*>)[^<>]*</time>`)},
	{`name="until"`, regexp.MustCompile(`name="until" value="[^"]*"`)},
}

// lasting is a body without what passes.
func lasting(body []byte) string {
	for _, p := range passing {
		if bytes.Contains(body, []byte(p.sign)) {
			body = p.is.ReplaceAll(body, []byte("$1"))
		}
	}
	return string(body)
}

// everything is what each of some callers reads, by caller and address.
func (w *walker) everything(t *testing.T, callers []string) map[string]string {
	t.Helper()
	w.settle(t)
	all := map[string]string{}
	for _, r := range fixture.Walked(w.Server.Server.Routes()) {
		if r.Method != http.MethodGet || r.Pattern == "/docs" ||
			r.Pattern == "/dashboard/notifications/{thread_id}" {
			continue // the last marks a thread as read
		}
		if strings.HasSuffix(r.Pattern, "{app_slug}/advanced") ||
			strings.HasSuffix(r.Pattern, "{app_slug}/deliveries/{delivery_id}") {
			continue // deliveries to the App of "keeper" are tried again meanwhile
		}
		for _, h := range w.Homes {
			if !onRepo(&r) && h != w.Homes[0] {
				continue
			}
			for _, query := range append(w.queries(t, &r, h), w.orders(t, &r, h)...) {
				for _, login := range callers {
					do := "GET " + h.Address(t, r.Pattern, nil) + query
					a := w.ask(t, login, apitest.Case{Do: do, Headers: fixture.Headers(&r)})
					all[do+" as "+login] = strings.Join(a.Header["Link"], " ") + "\n" + lasting(a.Body)
				}
			}
		}
	}
	return all
}

// orders are lists in orders that what nobody may know could change.
func (w *walker) orders(t *testing.T, r *route.Route, h *fixture.Home) []string {
	t.Helper()
	switch {
	case strings.HasSuffix(r.Pattern, "/forks"):
		return []string{"?sort=stargazers", "?sort=newest"}
	case strings.HasSuffix(r.Pattern, "/issues"):
		return []string{"?sort=updated&state=all", "?sort=comments&state=all", "?per_page=1&state=all"}
	case strings.HasSuffix(r.Pattern, "/pulls"):
		return []string{"?sort=updated&state=all", "?sort=popularity&state=all", "?per_page=1"}
	}
	return w.heeded(t, r, h, "?per_page=1", "?per_page=1&page=2")
}

package server_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/plant"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// form holds an error against the form that the clients of its route read: a
// client that switches on a field must find it in every refusal (decisions 15,
// 20, 48, 49, 53).
func form(t *testing.T, r *route.Route, c apitest.Case, login string, a *apitest.Answer) {
	t.Helper()
	if a.Status < 400 {
		return
	}
	bad := func(why string) {
		t.Errorf("%s as %q: %d, %s: %s\n%v", c.Do, login, a.Status, why, a.Body, a.Header)
	}
	if a.Header.Get("X-Request-Id") == "" {
		bad("without a request id")
	}
	challenge := "Basic "
	if r.Group == route.Plants {
		challenge = "Bearer"
	}
	if got := a.Header.Get("WWW-Authenticate"); (a.Status == http.StatusUnauthorized) != (got != "") ||
		!strings.HasPrefix(got, challenge) && got != "" {
		bad("with a challenge that is not the group's")
	}
	if a.Status == http.StatusMethodNotAllowed && !strings.HasSuffix(r.Pattern, "/merge") &&
		!strings.Contains(a.Header.Get("Allow"), r.Method) {
		bad("without what is allowed")
	}
	why := ""
	switch kind := a.Header.Get("Content-Type"); r.Group {
	case route.Git:
		if !strings.HasPrefix(kind, "text/plain") || strings.TrimSpace(string(a.Body)) == "" {
			why = "git shows no such text"
		}
	case route.Plants:
		why = plantForm(a)
	case route.Pages:
		if len(a.Body) == 0 || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			why = "a page without anything on it, or that can be taken for something else"
		}
	default:
		why = apiForm(r, a)
	}
	if why != "" {
		bad(why)
	}
}

// apiForm tells what is wrong with an error of the code-hosting API.
func apiForm(r *route.Route, a *apitest.Answer) string {
	if len(a.Body) == 0 {
		if a.Status == http.StatusNotFound &&
			slices.Contains([]string{"/user/starred/{owner}/{repo}",
				"/repos/{owner}/{repo}/pulls/{number}/merge"}, r.Pattern) {
			return "" // the two that the interface gives no body
		}
		return "without a body"
	}
	var e struct {
		Message       string
		Documentation string `json:"documentation_url"`
		Errors        []struct{ Resource, Field, Code string }
	}
	if err := json.Unmarshal(a.Body, &e); err != nil ||
		!strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		return "not JSON"
	}
	if e.Message == "" || !strings.Contains(e.Documentation, "/docs") ||
		strings.Contains(e.Documentation, "/api/v3") {
		return "without a message or a page that tells more"
	}
	for _, f := range e.Errors {
		if f.Resource == "" || f.Code == "" {
			return "an error without a resource or a code"
		}
	}
	return ""
}

// plantForm tells what is wrong with an error of the plant store.
func plantForm(a *apitest.Answer) string {
	var e map[string]any
	if err := json.Unmarshal(a.Body, &e); err != nil || a.Header.Get("Content-Type") != "application/json" {
		return "not JSON"
	}
	number, _ := e["error"].(float64)
	message, _ := e["message"].(string)
	if len(e) != 2 || message == "" || !slices.ContainsFunc(plant.Conditions(), func(c plant.Condition) bool {
		return float64(c.Number) == number && c.Status == a.Status
	}) {
		return "no documented number with a message"
	}
	return ""
}

// Whatever is wrong with a request, its answer has the form of its route, and
// what clients switch on (decisions 5, 16, 48).
func TestEveryRouteRefusesInItsForm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		if !testenv.Long && s.Engine == db.PostgreSQL {
			t.Skip("no error here comes from the database")
		}
		w := newWalker(t, s)
		h := w.Homes[0]
		for _, r := range fixture.Walked(s.Server.Routes()) {
			path := h.Address(t, r.Pattern, nil)
			for _, test := range refusals(&r) {
				c := apitest.Case{Do: cmp.Or(test.method, r.Method) + " " + path, Send: test.body,
					Headers: map[string]string{"Accept": fixture.Graduated["Accept"]}}
				for name, value := range test.headers {
					c.Headers[name] = value
				}
				a := w.ask(t, fixture.Asker(&r, "chief"), c)
				w.check(t, "chief", c.Do, a)
				form(t, &r, c, "chief", a)
				if a.Status != test.status {
					t.Errorf("%s with %v %.20q: %d, want %d: %s", c.Do, test.headers, test.body, a.Status,
						test.status, a.Body)
				}
				if test.message != "" && !strings.Contains(string(a.Body), test.message) {
					t.Errorf("%s with %.20q: %s, want %s", c.Do, test.body, a.Body, test.message)
				}
			}
		}
	})
}

// refusal is a request that a route must refuse.
type refusal struct {
	method, body string
	headers      map[string]string
	status       int
	message      string
}

func refusals(r *route.Route) []refusal {
	list := []refusal{{method: "PROPFIND", status: http.StatusMethodNotAllowed}}
	if r.Group != route.API && r.Group != route.Plants {
		return list
	}
	if !r.AnyMedia || r.Pattern == "/" {
		list = append(list, refusal{headers: map[string]string{"Accept": "text/csv"},
			status: http.StatusUnsupportedMediaType})
	}
	if fixture.Body(r) == "" || r.Streams {
		return list
	}
	limit := r.Limit
	if limit == 0 {
		limit = 1 << 20
	}
	kind, first := map[string]string{"Content-Type": "application/json"}, len(list)
	list = append(list, refusal{body: `{"a":`, headers: kind, status: http.StatusBadRequest},
		refusal{body: `7`, headers: kind, status: http.StatusBadRequest})
	if limit == 1<<20 {
		list = append(list, refusal{body: strings.Repeat(" ", int(limit)+1), headers: kind,
			status: http.StatusRequestEntityTooLarge})
	}
	if r.Group == route.API {
		list[first].message, list[first+1].message = "Problems parsing JSON", "Body should be a JSON object"
	}
	return list
}

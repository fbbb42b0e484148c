package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// hasForm holds an error against the form that the clients of its route read: a client that switches on a
// field must find it in every refusal (decisions 15, 20, 48, 49, 53).
func hasForm(_ *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.Status < 400 {
		return
	}
	r := e.route
	if e.Header.Get("X-Request-Id") == "" {
		e.errorf(t, "has no request id")
	}
	challenge, challenged := "Basic ", e.Status == http.StatusUnauthorized
	switch {
	case r.Group == route.Plants:
		challenge = "Bearer"
	case r.Pattern == "/login/oauth/userinfo": // RFC 6750 has one for scopes that lack, too
		challenge, challenged = "Bearer", challenged || e.Status == http.StatusForbidden
	}
	if got := e.Header.Get("WWW-Authenticate"); challenged != (got != "") ||
		!strings.HasPrefix(got, challenge) && got != "" {
		e.errorf(t, "has the challenge %q", got)
	}
	if e.Status == http.StatusMethodNotAllowed && !strings.HasSuffix(r.Pattern, "/merge") &&
		!strings.HasSuffix(r.Pattern, "/revert") && !strings.Contains(e.Header.Get("Allow"), r.Method) {
		e.errorf(t, "does not say what is allowed")
	}
	why := ""
	group := r.Group
	if r.LFS { // git lfs reads JSON
		group = route.API
	}
	switch kind := e.Header.Get("Content-Type"); group {
	case route.Git:
		if !strings.HasPrefix(kind, "text/plain") || strings.TrimSpace(string(e.Body)) == "" {
			why = "is a text that git does not show"
		}
	case route.Plants:
		why = plantForm(e)
	case route.Pages:
		if len(e.Body) == 0 || e.Header.Get("X-Content-Type-Options") != "nosniff" {
			why = "is a page without anything on it, or that can be taken for something else"
		}
	default:
		why = apiForm(e)
	}
	if why != "" {
		e.errorf(t, "%s: %v", why, e.Header)
	}
}

// apiForm says what is wrong with an error of the code-hosting API.
func apiForm(e *exchange) string {
	if len(e.Body) == 0 {
		if e.Status == http.StatusNotFound && slices.Contains([]string{"/user/starred/{owner}/{repo}",
			"/repos/{owner}/{repo}/pulls/{number}/merge"}, e.route.Pattern) {
			return "" // the two that the interface gives no body
		}
		return "has no body"
	}
	var body struct {
		Message       string
		Documentation string `json:"documentation_url"`
		Errors        []struct{ Resource, Field, Code string }
	}
	if err := json.Unmarshal(e.Body, &body); err != nil ||
		!strings.HasPrefix(e.Header.Get("Content-Type"), map[bool]string{false: "application/json",
			true: "application/scim+json"}[e.route.SCIM]) {
		return "is not JSON"
	}
	if body.Message == "" || !strings.Contains(body.Documentation, "/docs") ||
		strings.Contains(body.Documentation, "/api/v3") {
		return "has no message, or no page of the documentation"
	}
	for _, f := range body.Errors {
		if f.Resource == "" || f.Code == "" {
			return "has an error without a resource or a code"
		}
	}
	return ""
}

// plantForm says what is wrong with an error of the plant store.
func plantForm(e *exchange) string {
	var body map[string]any
	if err := json.Unmarshal(e.Body, &body); err != nil || e.Header.Get("Content-Type") != "application/json" {
		return "is not JSON"
	}
	number, _ := body["error"].(float64)
	message, _ := body["message"].(string)
	if len(body) != 2 || message == "" || plantNumbers()[fmt.Sprint(int(number))] != fmt.Sprint(e.Status) {
		return "has no documented number with a message"
	}
	return ""
}

// plantNumbers returns the status of each error number of the plant store, as the store's document has them.
var plantNumbers = sync.OnceValue(func() map[string]string {
	text, err := os.ReadFile("../apidoc/plants.yaml")
	if err != nil {
		panic(err)
	}
	statuses := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +\| (\d{5}) \| (\d{3}) \| .+ \|$`).FindAllSubmatch(text, -1) {
		statuses[string(m[1])] = string(m[2])
	}
	return statuses
})

// wrong checks that each route rejects invalid requests of permitted callers in the form of its group
// (decisions 5, 16, 48).
func (m *matrix) wrong(t *testing.T, r *route.Route) {
	t.Helper()
	for _, test := range mistakes(r) {
		c := apitest.Case{Do: cmp.Or(test.method, r.Method) + " " + m.Homes[0].Address(t, r.Pattern, nil),
			Send: test.body, Headers: map[string]string{"Accept": fixture.Graduated["Accept"]}}
		for name, value := range test.headers {
			c.Headers[name] = value
		}
		e := m.again(t, &exchange{route: r, home: m.Homes[0], as: caller{fixture.Asker(r, "chief"), ""}}, c)
		tellsNothing(m, t, e)
		hasForm(m, t, e)
		if e.Status != test.status || !strings.Contains(string(e.Body), test.message) {
			e.errorf(t, "to %v %.20q, instead of %d %s", test.headers, test.body, test.status, test.message)
		}
	}
}

// mistake is a request that a route must refuse.
type mistake struct {
	method, body string
	headers      map[string]string
	status       int
	message      string
}

func mistakes(r *route.Route) []mistake {
	list := []mistake{{method: "PROPFIND", status: http.StatusMethodNotAllowed}}
	if r.Group != route.API && r.Group != route.Plants {
		return list
	}
	if !r.AnyMedia || r.Pattern == "/" {
		list = append(list, mistake{headers: map[string]string{"Accept": "text/csv"},
			status: http.StatusUnsupportedMediaType})
	}
	if fixture.Body(r) == "" || r.Streams {
		return list
	}
	if r.Client && r.Group == route.API {
		return list // who sends no client secret is refused first, see TestOAuthAppManagesItsTokens
	}
	kind, first := map[string]string{"Content-Type": "application/json"}, len(list)
	list = append(list, mistake{body: `{"a":`, headers: kind, status: http.StatusBadRequest},
		mistake{body: `7`, headers: kind, status: http.StatusBadRequest})
	if r.Limit == 0 || r.Limit == 1<<20 {
		list = append(list, mistake{body: strings.Repeat(" ", 1<<20+1), headers: kind,
			status: http.StatusRequestEntityTooLarge})
	}
	if r.Group == route.API {
		list[first].message, list[first+1].message = "Problems parsing JSON", "Body should be a JSON object"
	}
	return list
}

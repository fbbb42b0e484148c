package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/openapi"
	"arbor/internal/web"
)

// walker walks through an estate as everyone.
type walker struct {
	*fixture.World
	looked map[string]map[string]bool // the parameters that handlers look for, by the routes' patterns
}

func newWalker(t *testing.T, s *apitest.Server) *walker {
	t.Helper()
	return &walker{World: fixture.New(t, s), looked: map[string]map[string]bool{}}
}

// settle waits until the code that was pushed was looked at, which changes what repositories show.
func (w *walker) settle(t *testing.T) {
	t.Helper()
	if err := w.Server.Server.Forge().Detect.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// ask makes a request as one of fixture.People.
func (w *walker) ask(t *testing.T, login string, c apitest.Case) *apitest.Answer {
	t.Helper()
	headers := map[string]string{}
	for name, value := range c.Headers {
		headers[name] = value
	}
	if token := w.Tokens[login]; token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	c.Headers = headers
	return w.Do(t, c)
}

// check looks through all that an answer says for what its caller must not know.
func (w *walker) check(t *testing.T, login, do string, a *apitest.Answer) {
	t.Helper()
	text := textOf(a)
	all := strings.ToLower(text)
	tell := func(what string) {
		t.Errorf("%s as %q: %d tells %s:\n%.600s", do, login, a.Status, what, text)
	}
	if a.Status >= 500 {
		tell("an error")
	}
	objects := namesOf(all)
	for _, h := range w.Homes {
		if h.Role(login) > account.None && w.valid(login) {
			continue
		}
		if strings.Contains(all, h.Mark) {
			tell("of " + h.Mark)
		}
		for _, sha := range h.SHAs {
			if objects[sha] {
				tell("an object of " + h.Mark)
			}
		}
	}
	aToken := strings.Contains(all, "arb_")
	for other, token := range w.Tokens {
		if !aToken && strings.HasPrefix(token, "arb_") {
			continue
		}
		if other != "wrong" && strings.Contains(all, strings.ToLower(token)) {
			tell("the token of " + other)
		}
	}
	if login != "reader" && strings.Contains(all, fixture.PendingMark) {
		tell("a review that was not submitted")
	}
	if login != "keeper" && login != "chief" && strings.Contains(all, fixture.PlantMark) {
		tell("another's plant")
	}
	if (login == "" || !w.valid(login)) && strings.Contains(all, fixture.EmailMark) {
		tell("an address")
	}
}

// textOf is all that an answer says.
func textOf(a *apitest.Answer) string {
	var text strings.Builder
	for name, values := range a.Header {
		text.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
	}
	text.Write(a.Body)
	return text.String()
}

// namesOf are all names of objects in a text, and whatever else are forty hexadecimal digits.
func namesOf(text string) map[string]bool {
	const size = 40
	found, digits := map[string]bool{}, 0
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' && c < 'a' || c > 'f' {
			digits = 0
			continue
		}
		if digits++; digits >= size {
			found[text[i+1-size:i+1]] = true
		}
	}
	return found
}

// valid says that a person's token, or the lack of one, is in order.
func (w *walker) valid(login string) bool { return login != "wrong" && login != "expired" }

// callers are all people. A person's repositories, which the organization's
// people do not concern, meet one of each role. On PostgreSQL the same code runs with the
// same statements: there callers differ by where the store finds their role, and what
// follows from a role, which no store decides, is asked on SQLite.
func (w *walker) callers(h *fixture.Home) []string {
	switch postgres := w.Engine == db.PostgreSQL; {
	case h.Owner == "holder" && postgres:
		return []string{"", "stranger", "reader", "holder"}
	case h.Owner == "holder":
		return []string{"", "expired", "stranger", "owner", "reader", "writer", "holder"}
	case postgres:
		return []string{"", "expired", "stranger", "reader", "member", "owner", "chief"}
	}
	return fixture.People
}

// visited are the repositories of a walk: on PostgreSQL not the public one of a person, of which the store
// decides nothing that it does not decide of the organization's public one and of the person's private one.
func (w *walker) visited() []*fixture.Home {
	if w.Engine != db.PostgreSQL {
		return w.Homes
	}
	return slices.DeleteFunc(slices.Clone(w.Homes), func(h *fixture.Home) bool {
		return h.Owner == "holder" && !h.Private
	})
}

// roleFor is the role that reading a repository's things demands.
func roleFor(r *route.Route, query string) account.Role {
	if strings.Contains(query, "git-receive-pack") {
		return account.Push
	}
	return fixture.RoleOf(r.Right)
}

// refusal is the status that a caller without the right must get; 0: none.
func (w *walker) refusal(r *route.Route, login string, role, need account.Role) int {
	unsafe := r.Method != http.MethodGet
	switch {
	case !w.valid(login):
		return http.StatusUnauthorized
	case login == "" && r.Group == route.Git && (role == account.None || need > account.Pull):
		return http.StatusUnauthorized
	case login == "" && r.Group != route.Git && (unsafe || r.Right == route.SignedIn):
		return http.StatusUnauthorized
	case role == account.None:
		return http.StatusNotFound
	case role < need:
		return http.StatusForbidden
	}
	return 0
}

// onRepo says that a route is about one repository.
func onRepo(r *route.Route) bool {
	return strings.Contains(r.Pattern, "{repo}") && r.Right != route.App
}

// queries are asked beside the bare address.
func (w *walker) queries(t *testing.T, r *route.Route, h *fixture.Home) []string {
	t.Helper()
	switch {
	case strings.HasSuffix(r.Pattern, "/info/refs"):
		return []string{"?service=git-upload-pack", "?service=git-receive-pack"}
	case strings.HasPrefix(r.Pattern, "/search/"):
		return []string{"?q=nightshade", "?q=belladonna+in:title", "?q=repo:guild/nightshade+t", "?q=text"}
	case strings.HasSuffix(r.Pattern, "/contents/{path...}"), strings.HasSuffix(r.Pattern, "/readme"):
		return []string{"", "?ref=main"}
	case strings.HasSuffix(r.Pattern, "/memberships/orgs"):
		return []string{"", "?state=active"}
	}
	return append([]string{""}, w.heeded(t, r, h, "?per_page=100&state=all&filter=all")...)
}

// heeded gives those of some queries of which a route's handler looks for a parameter. To the others the
// answer is that of the bare address.
func (w *walker) heeded(t *testing.T, r *route.Route, h *fixture.Home, list ...string) []string {
	t.Helper()
	looked := w.parameters(t, r, h)
	if looked == nil {
		return list
	}
	return slices.DeleteFunc(list, func(query string) bool {
		values, err := url.ParseQuery(query[1:])
		return err == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(name string) bool {
			return looked[name]
		})
	})
}

// parameters are those that a route's handler looks for: of the API those that are described, for the watcher
// of each test sees to it that a handler asks for no others; of pages those that it looks for when people ask
// for the bare address who may. nil: it is not known.
func (w *walker) parameters(t *testing.T, r *route.Route, h *fixture.Home) map[string]bool {
	t.Helper()
	if r.Group != route.API && r.Group != route.Pages {
		return nil
	}
	if looked := w.looked[r.Pattern]; looked != nil {
		return looked
	}
	looked := map[string]bool{}
	w.looked[r.Pattern] = looked
	if r.Group == route.API {
		c, err := openapi.Default()
		if err != nil {
			t.Fatal(err)
		}
		described, _ := c.Inputs(r.Method, r.Pattern)
		for _, name := range described {
			looked[name] = true
		}
		return looked
	}
	var heard sync.Map
	w.OnAsked(func(_, pattern, in, name string) {
		if pattern == r.Pattern && in == web.InQuery {
			heard.Store(name, nil)
		}
	})
	for _, login := range []string{"keeper", "owner", "chief"} {
		w.ask(t, login, apitest.Case{Do: "GET " + h.Address(t, r.Pattern, nil), Headers: fixture.Headers(r)})
	}
	heard.Range(func(name, _ any) bool {
		looked[name.(string)] = true
		return true
	})
	return looked
}

// same fails unless two refusals are alike to the byte: what may not be seen is
// as if it were not there (decision 13).
func same(t *testing.T, login, do string, a, absent *apitest.Answer) {
	t.Helper()
	if a.Status != absent.Status || string(a.Body) != string(absent.Body) {
		t.Errorf("%s as %q: %d %s, where nothing is %d %s", do, login, a.Status, a.Body,
			absent.Status, absent.Body)
	}
	for _, h := range [2]http.Header{a.Header, absent.Header} {
		h.Del("X-Request-Id")
		h.Del("X-GitHub-Request-Id")
		h.Del("Date")
	}
	if got, want := fmt.Sprint(a.Header), fmt.Sprint(absent.Header); got != want {
		t.Errorf("%s as %q: the header is\n%s, where nothing is\n%s", do, login, got, want)
	}
}

// Every route that reads meets every caller, with the addresses of things that
// are there. Somebody whose answer tells of what is not theirs would be how
// private work leaks.
func TestNoAnswerReveals(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method != http.MethodGet {
				continue
			}
			for _, h := range w.visited() {
				if !onRepo(&r) && h != w.Homes[0] {
					continue
				}
				w.readAll(t, &r, h, h.Address(t, r.Pattern, nil))
				if strings.Contains(r.Pattern, "/reviews/{id}") {
					w.readAll(t, &r, h, h.Address(t, r.Pattern, map[string]string{"id": h.Is["pending"]}))
				}
			}
		}
	})
}

// readAll has everybody read what is at an address.
func (w *walker) readAll(t *testing.T, r *route.Route, h *fixture.Home, path string) {
	t.Helper()
	for _, query := range w.queries(t, r, h) {
		for _, login := range w.callers(h) {
			w.read(t, r, h, path, query, login)
		}
	}
}

// read makes one request, and checks its status and what it tells.
func (w *walker) read(t *testing.T, r *route.Route, h *fixture.Home, path, query, login string) {
	t.Helper()
	c := apitest.Case{Do: "GET " + path + query, Headers: fixture.Headers(r)}
	a := w.ask(t, login, c)
	w.check(t, login, c.Do, a)
	form(t, r, c, login, a)
	want := 0
	switch {
	case onRepo(r):
		want = w.refusal(r, login, h.Role(login), roleFor(r, query))
		if want == 0 && login != "reader" && strings.Contains(path, "/reviews/"+h.Is["pending"]) {
			want = http.StatusNotFound
		}
	case r.Right == route.App, !w.valid(login),
		login == "" && (r.Right == route.SignedIn || r.Right == route.SiteAdmin ||
			r.Right == route.Installation):
		want = http.StatusUnauthorized
	case r.Right == route.Installation:
		want = http.StatusForbidden
	case (r.Pattern == "/orgs/{org}/audit-log" || strings.HasPrefix(r.Pattern, "/orgs/{org}/hooks") ||
		r.Pattern == "/orgs/{org}/installations") && login != "owner" && login != "chief":
		want = http.StatusForbidden
	case r.Pattern == "/orgs/{org}/memberships/{username}" &&
		!slices.Contains([]string{"member", "owner", "chief"}, login):
		want = http.StatusForbidden
	}
	if want == 0 && asksMore(r, a) {
		return
	}
	if want != 0 && a.Status != want || want == 0 && slices.Contains([]int{401, 403}, a.Status) {
		t.Errorf("%s as %q: status %d, want %d", c.Do, login, a.Status, want)
	}
	if want == 0 && onRepo(r) && a.Status >= 400 && !mayLack(r, login) {
		t.Errorf("%s as %q: status %d %s", c.Do, login, a.Status, a.Body)
	}
	if want == http.StatusNotFound && onRepo(r) {
		absent := c
		absent.Do = "GET " + nowhereOf(h, path) + query
		same(t, login, c.Do, a, w.ask(t, login, absent))
	}
	w.variants(t, r, c, login, a)
}

// variants are the other ways to ask for the same, which lead to the same statements: one engine has them.
func (w *walker) variants(t *testing.T, r *route.Route, c apitest.Case, login string, a *apitest.Answer) {
	t.Helper()
	if login != "" && login != "stranger" || w.Engine == db.PostgreSQL {
		return
	}
	path := strings.TrimPrefix(c.Do, "GET ")
	head := c
	head.Do = "HEAD " + path
	b := w.ask(t, login, head)
	w.check(t, login, head.Do, b)
	if b.Status != a.Status || len(b.Body) > 0 {
		t.Errorf("%s as %q: status %d, %d with GET; body %q", head.Do, login, b.Status, a.Status, b.Body)
	}
	if r.Group != route.API {
		return
	}
	prefixed := c
	prefixed.Do = "GET /api/v3" + path
	b = w.ask(t, login, prefixed)
	w.check(t, login, prefixed.Do, b)
	if b.Status != a.Status {
		t.Errorf("%s as %q: status %d, %d without the prefix", prefixed.Do, login, b.Status, a.Status)
	}
}

// mayLack reports routes that answer 404 also where all is seen: what they ask
// is whether this caller, or the thing, has something.
func mayLack(r *route.Route, login string) bool {
	switch strings.TrimPrefix(r.Pattern, "/repos/{owner}/{repo}") {
	case "/user/starred/{owner}/{repo}", "/subscription", "/issues/{number}/subscription":
		return login != "keeper"
	case "/pulls/{number}/merge", "/collaborators/{username}":
		return true
	}
	return false
}

// asksMore reports a page that shows a form only to those who may send it: it asks for more than to see the
// repository, where the API does.
func asksMore(r *route.Route, a *apitest.Answer) bool {
	signsIn := a.Status == http.StatusSeeOther && strings.HasPrefix(a.Header.Get("Location"), "/login")
	return r.Group == route.Pages && (signsIn || slices.Contains([]int{401, 403}, a.Status))
}

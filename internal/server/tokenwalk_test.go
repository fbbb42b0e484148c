package server_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// limitedKinds are the limited tokens with which tests walk through the interface. Fine-grained
// ones are for chosenHome.
var limitedKinds = []string{"none", "public_repo", "repo", "read:org", "read one", "write one"}

const chosenHome = "nightshade"

// limited gives the name, for ask, of a person's token of a kind.
func (w *walker) limited(t *testing.T, login, kind string) string {
	t.Helper()
	name := login + " with " + kind
	if w.Tokens[name] != "" {
		return name
	}
	n := account.NewToken{Login: login}
	var err error
	switch kind {
	case "read one", "write one":
		found, err := w.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, "guild", chosenHome)
		if err != nil {
			t.Fatal(err)
		}
		n.Repos, n.Changes = []int64{int64(found.ID)}, kind == "write one"
	case "none":
	default:
		if n.Scopes, err = scope.Parse(kind); err != nil {
			t.Fatal(err)
		}
	}
	if w.Tokens[name], _, err = w.Accounts.CreateToken(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return name
}

// hides says that a person's token takes a repository from the account, which sees it. None of
// these tokens lets chief act as a site administrator.
func hides(login, kind string, h *fixture.Home) bool {
	if login == "chief" {
		return h.Private
	}
	return h.Private && kind != "repo" && !(strings.HasSuffix(kind, " one") && h.Name == chosenHome)
}

// suffices says that a token may be used to change something by a route, on a repository if h
// is not nil.
func suffices(kind string, r *route.Route, h *fixture.Home, role account.Role) bool {
	if strings.HasSuffix(r.Pattern, "/git-upload-pack") || readsOnly(r) {
		return true
	}
	need, _ := route.NeedOf(r.Method, r.Pattern)
	if strings.Contains(r.Pattern, "/notifications") { // who may read threads may mark them
		scopes, _ := scope.Parse(kind)
		return strings.HasSuffix(kind, " one") && (h == nil || h.Name == chosenHome) ||
			scopes.Any(need.Scopes)
	}
	switch kind {
	case "write one":
		return h != nil && h.Name == chosenHome && !need.Never && role < account.Admin
	case "public_repo":
		return need.Scopes.Any(scope.PublicRepo) && h != nil
	case "repo":
		scopes, _ := scope.Parse(kind)
		return scopes.Any(need.Scopes)
	}
	return false
}

// tells looks for what a token takes from its account in all that an answer says.
func (w *walker) tells(t *testing.T, login, kind, do string, a *apitest.Answer) {
	t.Helper()
	text := textOf(a)
	all := strings.ToLower(text)
	objects := namesOf(all)
	if a.Status >= 500 || strings.Contains(all, fixture.PlantMark) {
		t.Errorf("%s as %s with %s: %d\n%.600s", do, login, kind, a.Status, text)
	}
	for _, h := range w.Homes {
		told := hides(login, kind, h) && strings.Contains(all, h.Mark)
		for _, sha := range h.SHAs {
			told = told || hides(login, kind, h) && objects[sha]
		}
		if told {
			t.Errorf("%s as %s with %s: %d tells of %s:\n%.600s", do, login, kind, a.Status, h.Mark, text)
		}
	}
}

// Each route that reads is asked with each kind of limited token of somebody who sees
// everything, after the full token has filled all caches. If an answer told of what the token takes away,
// a token that leaks from a build would open all of its owner's work.
func TestLimitedTokensReveal(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method != http.MethodGet {
				continue
			}
			for _, h := range w.visited() {
				if onRepo(&r) || h == w.Homes[0] {
					w.readLimited(t, &r, h)
				}
			}
		}
	})
}

// readLimited reads what is at an address with the full token, and then with each limited one.
func (w *walker) readLimited(t *testing.T, r *route.Route, h *fixture.Home) {
	t.Helper()
	people, asked := []string{"keeper"}, w.queries(t, r, h)
	if !onRepo(r) {
		people = []string{"keeper", "chief", "owner"}
	} else if r.Group != route.Git {
		asked = asked[len(asked)-1:] // the one that is more than the bare address, if there is one
	}
	if w.Engine == db.PostgreSQL { // where the same code runs
		asked = asked[:1]
	}
	for _, query := range asked {
		c := apitest.Case{Do: "GET " + h.Address(t, r.Pattern, nil) + query, Headers: fixture.Headers(r)}
		for _, login := range people {
			full := w.ask(t, login, c)
			for _, kind := range limitedKinds {
				as := w.limited(t, login, kind)
				a := w.ask(t, as, c)
				w.tells(t, login, kind, c.Do, a)
				want := readStatus(kind, r, h, query)
				refused := a.Status == http.StatusForbidden || a.Status == http.StatusUnauthorized
				switch {
				case want == 0 && asksMore(r, a):
				case want != 0 && a.Status != want, want == 0 && refused && login != "chief" &&
					full.Status != a.Status,
					want == 0 && onRepo(r) && a.Status != full.Status && !mayLack(r, ""):
					t.Errorf("%s as %s: %d, want %d; with the full token %d: %s", c.Do, as, a.Status, want,
						full.Status, a.Body)
				}
				if want == http.StatusNotFound {
					absent := c
					absent.Do = strings.ReplaceAll(c.Do, "/"+h.Name, "/nowhere")
					same(t, as, c.Do, a, w.ask(t, as, absent))
				}
			}
		}
	}
}

// readStatus is the status with a keeper's token of a kind that does not suffice; 0: it does.
func readStatus(kind string, r *route.Route, h *fixture.Home, query string) int {
	need, _ := route.NeedOf(r.Method, r.Pattern)
	scopes, _ := scope.Parse(kind) // of fine-grained ones none
	fine := strings.HasSuffix(kind, " one")
	lacks := fine && need.Never || !fine && need.Scopes != 0 && !scopes.Any(need.Scopes)
	mayAdmin := kind == "repo" || kind == "public_repo"
	mayPush := kind == "repo" || kind == "public_repo" || kind == "write one" && h.Name == chosenHome
	switch {
	case onRepo(r) && hides("keeper", kind, h):
		return http.StatusNotFound
	case r.Right == route.SignedIn && lacks, onRepo(r) && roleFor(r, query) > account.Pull && !mayPush,
		onRepo(r) && roleFor(r, query) == account.Admin && (!mayAdmin || lacks):
		return http.StatusForbidden
	}
	return 0
}

// Each route that changes something is asked with each kind of limited token of the one who
// may. What a token may not do has no effect: at the end the least token that may does it.
func TestLimitedTokensChange(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		w.Hide(t)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet || r.Right == route.App || r.Right == route.Installation {
				continue // no person's token does
			}
			if r.Nobody || strings.HasPrefix(r.Pattern, "/login/") {
				continue // asked without a token
			}
			for _, h := range w.Homes {
				if h.Name == "chamomile" || h.Owner == "holder" && (s.Engine == db.PostgreSQL ||
					!testenv.Long) {
					continue
				}
				switch {
				case onRepo(&r):
					w.changeLimited(t, &r, h, h)
				case h == w.Homes[0]:
					w.changeLimited(t, &r, h, nil)
				}
			}
		}
	})
}

// changeLimited asks for one thing with all kinds; on is the repository that it is done to, if any.
func (w *walker) changeLimited(t *testing.T, r *route.Route, h, on *fixture.Home) {
	t.Helper()
	q := w.Request(t, r, h)
	if q.ByInspector() {
		return // its tokens are limited by permissions: package checkrun tests that
	}
	who := q.Who
	for _, kind := range limitedKinds {
		as := w.limited(t, q.Who, kind)
		hidden := on != nil && (hides(q.Who, kind, h) ||
			q.Repo != h.Name && h.Private && strings.HasSuffix(kind, " one"))
		if !hidden && suffices(kind, r, on, max(q.Rule.Role, fixture.RoleOf(r.Right))) {
			who = as
			continue
		}
		want := http.StatusForbidden
		if hidden || r.Right == route.SiteAdmin { // which these tokens do not act as
			want = http.StatusNotFound
		}
		a := w.ask(t, as, q.Case)
		w.tells(t, q.Who, kind, q.Do, a)
		if a.Status != want {
			t.Errorf("%s as %s: %d, want %d: %s", q.Do, as, a.Status, want, a.Body)
		}
		if hidden {
			absent := q.Case
			method, path, _ := strings.Cut(q.Do, " ")
			absent.Do = method + " " + nowhereOf(h, path)
			same(t, as, q.Do, a, w.ask(t, as, absent))
		}
	}
	if a := w.ask(t, who, q.Case); a.Status >= 300 {
		t.Errorf("%s as %s, who may: %d %s\n%s", q.Do, who, a.Status, a.Body, q.Send)
	}
}

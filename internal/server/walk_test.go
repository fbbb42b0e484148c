package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// callers are every kind of caller that there is, with the role that each has
// on the organization's public and private repository (decision 12).
var callers = []struct {
	login           string
	public, private account.Role
}{
	{"", account.Pull, account.None},
	{"stranger", account.Pull, account.None},
	{"reader", account.Pull, account.Pull},
	{"writer", account.Push, account.Push},
	{"keeper", account.Admin, account.Admin},
	{"member", account.Pull, account.Pull},
	{"owner", account.Admin, account.Admin},
	{"chief", account.Admin, account.Admin},
}

// guild makes an organization with a public and a private repository and
// everyone in callers.
func guild(t *testing.T, s *apitest.Server) (public, private *repo.Repo) {
	for _, c := range callers {
		switch c.login {
		case "":
		case "chief":
			s.Admin(t, c.login)
		default:
			s.User(t, c.login)
		}
	}
	s.Org(t, "guild", "owner")
	s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/member", As: "owner", Status: 204})
	public, private = s.Repo(t, "guild/hall", false), s.Repo(t, "guild/vault", true)
	for _, r := range []*repo.Repo{public, private} {
		s.Grant(t, r, "reader", account.Pull)
		s.Grant(t, r, "writer", account.Push)
		s.Grant(t, r, "keeper", account.Admin)
	}
	return public, private
}

// walk is apitest.Each for tests that ask the whole interface, one request after another: the race detector
// would find nothing there.
func walk(t *testing.T, fn func(t *testing.T, s *apitest.Server), options ...apitest.Option) {
	t.Helper()
	if testenv.Race {
		t.Skip("asks one request after another")
	}
	apitest.Each(t, fn, options...)
}

// A forgotten check on one route is how servers of this kind were broken most
// often. So every route meets every kind of caller, on a public, a private and
// an absent repository (decisions 11, 13, 49, 51).
func TestEveryRouteMeetsEveryCaller(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		for _, r := range s.Server.Routes() {
			for _, c := range callers {
				if !onRepo(&r) || r.Group == route.Pages && r.Right == route.Anyone {
					checkGlobal(t, s, &r, c.login)
					continue
				}
				checkOnRepo(t, s, &r, c.login, "hall", c.public)
				checkOnRepo(t, s, &r, c.login, "vault", c.private)
				checkOnRepo(t, s, &r, c.login, "nowhere", account.None)
			}
		}
	})
}

// A form does what the API lets the person do who sends it. What no request to the API is asked of is held
// here: nobody's form is taken, and none about a repository that the person does not see, whose address looks
// like one that is not there.
func TestFormsAreForThoseWhoSignedIn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		for _, r := range s.Server.Routes() {
			if !fixture.IsForm(&r) || r.Right == route.Anyone {
				continue
			}
			send := func(login, repository string) *apitest.Answer {
				c := request(&r, login, repository)
				c.Send, c.Headers = "a=b",
					map[string]string{"Content-Type": "application/x-www-form-urlencoded",
						"Accept": "text/html"}
				return s.Do(t, c)
			}
			for _, repository := range []string{"hall", "vault", "nowhere"} {
				a := send("", repository)
				if !strings.HasPrefix(a.Header.Get("Location"), "/login") || a.Status != http.StatusSeeOther {
					t.Errorf("%s %s of nobody in %s: %d, led to %q", r.Method, r.Pattern, repository,
						a.Status, a.Header.Get("Location"))
				}
			}
			if !onRepo(&r) {
				continue
			}
			hidden, absent := send("stranger", "vault"), send("stranger", "nowhere")
			same := strings.ReplaceAll(string(hidden.Body), "vault", "nowhere") == string(absent.Body)
			if hidden.Status != http.StatusNotFound || absent.Status != http.StatusNotFound || !same {
				t.Errorf("%s %s of a stranger: %d and %d", r.Method, r.Pattern, hidden.Status, absent.Status)
			}
		}
	})
}

// request fills a pattern. Unsafe requests carry a body that no handler takes,
// so that a caller who is let through changes nothing.
func request(r *route.Route, login, repository string) apitest.Case {
	path := strings.NewReplacer("{owner}", "guild", "{repo}", repository, "{org}", "guild",
		"{username}", "nobody-here", "{sha...}", "main", "{id}", "x", "{number}", "0", "{name}", "none",
		"{assignee}", "nobody-here").Replace(r.Pattern)
	c := apitest.Case{Do: r.Method + " " + path, As: login}
	if r.Method != http.MethodGet {
		c.Send = "{"
	}
	return c
}

func checkGlobal(t *testing.T, s *apitest.Server, r *route.Route, login string) {
	t.Helper()
	c := request(r, login, "")
	a := s.Do(t, c)
	mustSignIn := r.Right == route.App ||
		login == "" && (r.Right == route.SignedIn || r.Right == route.SiteAdmin ||
			r.Right == route.Installation || r.Method != http.MethodGet &&
			r.Group != route.Pages && !r.Nobody)
	if got := a.Status == http.StatusUnauthorized; got != mustSignIn {
		t.Errorf("%s as %q: status %d", c.Do, login, a.Status)
	}
	if a.Status >= 500 {
		t.Errorf("%s as %q: status %d", c.Do, login, a.Status)
	}
}

func checkOnRepo(
	t *testing.T, s *apitest.Server, r *route.Route, login, repository string, role account.Role,
) {
	t.Helper()
	if r.Method == http.MethodDelete && r.Pattern == "/repos/{owner}/{repo}" && role >= account.Admin {
		return // it needs no body, so it would be carried out; its own test does that
	}
	c := request(r, login, repository)
	if r.Group == route.Git {
		c.Headers = map[string]string{"Content-Type": "application/x-" + c.Do[strings.LastIndex(c.Do,
			"/")+1:] + "-request"}
	}
	a := s.Do(t, c)
	need := map[route.Right]account.Role{route.Pull: account.Pull, route.Push: account.Push,
		route.Admin: account.Admin}[r.Right]
	var want int
	switch {
	case login == "" && r.Group != route.Git && (r.Right == route.SignedIn || r.Method != http.MethodGet):
		want = http.StatusUnauthorized
	case login == "" && r.Group == route.Git && (role == account.None || need > account.Pull):
		want = http.StatusUnauthorized
	case role == account.None:
		want = http.StatusNotFound
	case role < need, byApps(r):
		want = http.StatusForbidden
	case r.Group == route.Pages && a.Status < 500:
		return // a page asks for more than to see the repository where the API does
	default:
		if slices.Contains([]int{401, 403}, a.Status) && r.Group != route.Git || a.Status >= 500 {
			t.Errorf("%s as %q (%s): status %d though the caller has the right", c.Do, login, role, a.Status)
		}
		return
	}
	if a.Status != want {
		t.Errorf("%s as %q (%s): status %d, want %d", c.Do, login, role, a.Status, want)
	}
	if want != http.StatusNotFound || repository == "nowhere" {
		return
	}
	// What may not be seen must not differ from what is not there.
	absent := s.Do(t, func() apitest.Case { c := request(r, login, "nowhere"); c.Headers = nil; return c }())
	if string(absent.Body) != string(a.Body) && r.Group != route.Git {
		t.Errorf("%s as %q: the answer differs from that for an absent repository:\n%s\n%s", c.Do, login,
			a.Body, absent.Body)
	}
	for name := range a.Header {
		if _, ok := absent.Header[name]; !ok && r.Group != route.Git {
			t.Errorf("%s as %q: the header %s tells that the repository is there", c.Do, login, name)
		}
	}
}

// byApps reports that people never do it, whatever their role: Apps write checks.
func byApps(r *route.Route) bool {
	return r.Method != http.MethodGet && r.Right == route.Push &&
		strings.HasPrefix(r.Pattern, "/repos/{owner}/{repo}/check-")
}

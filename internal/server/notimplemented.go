package server

import (
	_ "embed" // for the list of addresses
	"net/http"
	"strings"
	"sync"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// githubAddresses are the addresses of GitHub's API, one a line, from GitHub's own description
// of it (`make addresses`).
//
//go:embed github.txt
var githubAddresses string

// anyMethod is the method of a route that answers all of them.
const anyMethod = "*"

// allMethods is the answer to a preflight for such a route: the request itself gets the 404.
const allMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

// notImplemented returns routes for the addresses of GitHub's API that have none here. They answer 404 and name
// the address, so that no wildcard takes commits/main/check-runs for a commit. On a repository that
// the caller does not see, the answer is that of an absent one. Left out are the few addresses
// whose first part may be a login: these lead to pages of accounts. {base}...{head} is one segment,
// which our {basehead...} takes.
func notImplemented(have []route.Route, repos *repo.Service) []route.Route {
	known, wild := map[string]bool{}, map[string]string{}
	for _, r := range have {
		known[withoutNames(r.Pattern)] = true
		if before, end, _ := strings.Cut(r.Pattern, "...}"); r.Group == route.API && end == "" {
			wild[withoutNames(before+"}")] = before + "...}"
		}
	}
	var list []route.Route
	for _, a := range addressesOfGitHub() {
		if !known[a.plain] {
			list = append(list, notImplementedRoute(a.patternBelow(wild), a.address, repos))
		}
	}
	return list
}

// addressOfGitHub is an address of GitHub's API, and the same without the names of its placeholders.
type addressOfGitHub struct{ address, plain string }

// addressesOfGitHub are the addresses of GitHub's API that no page can be at.
var addressesOfGitHub = sync.OnceValue(func() (list []addressOfGitHub) {
	for address := range strings.Lines(githubAddresses) {
		address = strings.TrimSpace(address)
		first, _, _ := strings.Cut(address[1:], "/")
		if account.CheckLogin(first) != nil && !strings.Contains(address, "}...{") {
			list = append(list, addressOfGitHub{address, withoutNames(address)})
		}
	}
	return list
})

// patternBelow returns the pattern of the address. wild has our patterns that end with a {name...}: an address
// below one of them begins with it.
func (a *addressOfGitHub) patternBelow(wild map[string]string) string {
	for i := range len(a.plain) {
		if a.plain[i] != '/' {
			continue
		}
		if with, is := wild[a.plain[:i]]; is {
			return with + "/" + strings.Join(strings.Split(a.address,
				"/")[strings.Count(a.plain[:i], "/")+1:], "/")
		}
	}
	return a.address
}

// notImplementedRoute makes the route of an address.
func notImplementedRoute(pattern, address string, repos *repo.Service) route.Route {
	missing := func(w http.ResponseWriter, r *http.Request) error {
		return errs.Newf(errs.NotFound, "Not Found: this server does not have %s %s of GitHub's API",
			r.Method, address)
	}
	free := route.Needs(scope.None, route.None)
	if !strings.HasPrefix(pattern, "/repos/{owner}/{repo}/") {
		return free.Anyone(anyMethod+" "+pattern, missing).InAnyMedia()
	}
	onRepo := func(w http.ResponseWriter, r *http.Request, _ *repo.Access) error { return missing(w, r) }
	r := free.Route(route.Pull, anyMethod+" "+pattern, repos.WithVisible(onRepo))
	return r.InAnyMedia().OnRepository()
}

// withoutNames returns a pattern without the names of its placeholders.
func withoutNames(pattern string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("{}")
		_, pattern, _ = strings.Cut(after, "}")
	}
}

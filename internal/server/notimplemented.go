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

// githubAddresses lists the addresses of GitHub's API, one per line, taken from GitHub's own description
// of it (`make addresses`).
//
//go:embed github.txt
var githubAddresses string

// anyMethod is the method of a route that accepts all methods.
const anyMethod = "*"

// allMethods is the Allow header of such a route, also in preflights: the request itself gets the 404.
const allMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

// notImplemented returns routes for GitHub API addresses that are not implemented. They return a 404 that
// names the address, and keep wildcard routes from treating commits/main/check-runs as a commit. For a
// repository that the caller cannot see, the response is that for a missing repository. The few addresses
// whose first segment may be a login are omitted: these are pages of accounts. {base}...{head} is one
// segment, which {basehead...} matches.
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

// addressOfGitHub is an address of GitHub's API, and the same address without placeholder names.
type addressOfGitHub struct{ address, plain string }

// addressesOfGitHub returns the addresses of GitHub's API that cannot be pages.
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

// patternBelow returns the pattern of the address. If it is below a pattern of ours that ends with
// {name...}, the result begins with that pattern; wild holds these patterns.
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

// notImplementedRoute returns the route of an address.
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

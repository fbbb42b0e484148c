// Package project is the pages around a repository that are about no code: making one, forking it, and who
// marks it.
//
//   - /new: new.go; /new/import: import.go
//   - /{owner}/{repo}/fork, .../forks: fork.go; .../sync: sync.go
//   - POST /{owner}/{repo}/star, unstar, watch, unwatch, ignore: mark.go, where the buttons of every page lead
//   - .../stargazers, .../watchers: mark.go
package project

import (
	"embed"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/gitdata"
	"arbor/internal/migration/job"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services are what the pages work with.
type Services struct {
	Accounts *account.Service
	Settings *settings.Service
	Networks *network.Service
	Pulls    *pull.Service // updates forks
	Git      *gitdata.Service
	Mirrors  *mirror.Service // imports Git alone
	Imports  *job.Service    // imports all that a repository has
}

// Pages answers the pages of this room.
type Pages struct {
	Services
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages { return &Pages{of, kit, roomTemplates} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	on, own := p.kit.OnRepo, p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /new", p.New),
		own.SignedIn("POST /new", p.Create),
		own.SignedIn("GET /new/import", p.NewImport),
		own.SignedIn("POST /new/import", p.Import),
		on("GET /{owner}/{repo}/fork", p.NewFork),
		on("POST /{owner}/{repo}/fork", p.Fork),
		on("GET /{owner}/{repo}/forks", p.Forks),
		on("GET /{owner}/{repo}/sync", p.Behind),
		on("POST /{owner}/{repo}/sync", p.Sync),
		on("POST /{owner}/{repo}/star", p.Star),
		on("POST /{owner}/{repo}/unstar", p.Unstar),
		on("POST /{owner}/{repo}/watch", p.Watch),
		on("POST /{owner}/{repo}/unwatch", p.Unwatch),
		on("POST /{owner}/{repo}/ignore", p.Ignore),
		on("GET /{owner}/{repo}/stargazers", p.Stargazers),
		on("GET /{owner}/{repo}/watchers", p.Watchers),
	}
}

// owners are the accounts for which the caller may ask for a repository: the own one, and organizations.
// Error: 403 for a token that does not tell of these.
func (p *Pages) owners(r *http.Request, caller *account.Caller) ([]string, error) {
	if err := caller.Allows(scope.ReadOrg, false); err != nil {
		return nil, err
	}
	list := []string{caller.Login}
	orgs, _, err := p.Accounts.OrgsOf(r.Context(), caller, caller.Login, page.First(maxOwners))
	for _, m := range orgs {
		list = append(list, m.Org.Login)
	}
	return list, err
}

const maxOwners = 100

// pathOf is the address of a repository's page by OWNER/NAME.
func pathOf(fullName string) string {
	owner, name, _ := strings.Cut(fullName, "/")
	return web.Path(owner, name)
}

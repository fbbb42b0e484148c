// Package project is the pages around a repository that are about no code: making one, forking it, and who
// marks it.
//
//   - /new: new.go
//   - /{owner}/{repo}/fork, .../forks: fork.go
//   - POST /{owner}/{repo}/star, unstar, watch, unwatch: mark.go, where the buttons of every page lead
//   - .../stargazers, .../watchers: mark.go
package project

import (
	"embed"
	"net/http"
	"strings"

	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages.
func New(kit *page.Kit) *Pages { return &Pages{kit, roomTemplates} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	on, own := p.kit.OnRepo, p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /new", p.New),
		own.SignedIn("POST /new", p.Create),
		on("GET /{owner}/{repo}/fork", p.NewFork),
		on("POST /{owner}/{repo}/fork", p.Fork),
		on("GET /{owner}/{repo}/forks", p.Forks),
		on("POST /{owner}/{repo}/star", p.Star),
		on("POST /{owner}/{repo}/unstar", p.Unstar),
		on("POST /{owner}/{repo}/watch", p.Watch),
		on("POST /{owner}/{repo}/unwatch", p.Unwatch),
		on("GET /{owner}/{repo}/stargazers", p.Stargazers),
		on("GET /{owner}/{repo}/watchers", p.Watchers),
	}
}

// owners are the accounts for which the viewer may ask for a repository: the own one, and organizations.
func (p *Pages) owners(r *http.Request, viewer *page.Viewer) ([]string, error) {
	list := []string{viewer.Login}
	var orgs []page.User
	if _, err := p.kit.Get(r, "/user/orgs", page.Query("per_page", "100"), &orgs); err != nil {
		return nil, err
	}
	for _, org := range orgs {
		list = append(list, org.Login)
	}
	return list, nil
}

// pathOf is the address of a repository's page by OWNER/NAME.
func pathOf(fullName string) string {
	owner, name, _ := strings.Cut(fullName, "/")
	return web.Path(owner, name)
}

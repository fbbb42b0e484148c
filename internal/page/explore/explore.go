// Package explore is the pages on which people find what is on the server.
//
//   - /explore: explore.go
//   - /search: search.go, result.go
package explore

import (
	"embed"
	"net/http"

	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/scope"
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

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	free := p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /explore", p.Explore),
		free.Anyone("GET /search", p.Search),
	}
}

// exploreView is what explore.html shows.
type exploreView struct {
	page.Frame
	Repos  []page.Repository
	People []page.User
	Orgs   []page.User
}

// GET /explore
//
// Explore answers the public repositories that were pushed to last, and people and organizations with the
// most followers. A page of the repositories has thirty.
func (p *Pages) Explore(w http.ResponseWriter, r *http.Request) error {
	v := &exploreView{}
	var err error
	if v.Frame, err = p.kit.Frame(r, "Explore"); err != nil {
		return err
	}
	var repos struct{ Items []page.Repository }
	more, err := p.kit.Get(r, "/search/repositories",
		page.Part(r, perPage, "q", "is:public", "sort", "updated"), &repos)
	if err != nil {
		return page.Absent(err)
	}
	v.Repos, v.Pages = repos.Items, page.PagesOf(r, more)
	for query, into := range map[string]*[]page.User{"type:user": &v.People, "type:org": &v.Orgs} {
		var found struct{ Items []page.User }
		if _, err := p.kit.Get(r, "/search/users",
			page.Query("q", query, "sort", "followers", "per_page", "10"), &found); err != nil {
			return err
		}
		*into = found.Items
	}
	return p.t.Page(w, r, "explore.html", v)
}

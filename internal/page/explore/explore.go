// Package explore is the pages on which people find what is on the server.
//
//   - /explore: explore.go
//   - /search: search.go, result.go
//   - /explore/go: goto.go
package explore

import (
	"embed"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/search/code"
	"arbor/internal/search/commit"
	"arbor/internal/search/repository"
	"arbor/internal/search/user"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services have the searches of each kind.
type Services struct {
	Repositories *repository.API
	People       *user.API
	Commits      *commit.API
	Code         *code.API
	Issues       *search.Service
}

// Pages answers the pages of this room.
type Pages struct {
	kit      *page.Kit
	t        *page.Templates
	searches Services
}

// New returns the pages.
func New(kit *page.Kit, searches Services) *Pages { return &Pages{kit, roomTemplates, searches} }

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	free := p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /explore", p.Explore).Counted(),
		free.Anyone("GET /search", p.Search).Counted(),
		free.Anyone("GET /explore/go", p.Go).Counted(),
	}
}

// maxFollowed is how many people, and how many organizations, are shown.
const maxFollowed = 10

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
	ctx := r.Context()
	at := web.Page{Number: web.ReadPage(r).Number, Size: perPage}
	repos, err := p.searches.Repositories.Find(ctx,
		search.Question{Text: "is:public", Sort: "updated", Page: at, Caller: page.Reader(r)})
	if err != nil {
		return page.Absent(err)
	}
	v.Repos, v.Pages = page.NewRepositories(repos.Items), page.PagesOf(r, repos.More(at))
	for query, into := range map[string]*[]page.User{"type:user": &v.People, "type:org": &v.Orgs} {
		found, err := p.searches.People.Find(ctx, search.Question{Text: query, Sort: "followers",
			Page: web.Page{Number: 1, Size: maxFollowed}, Caller: account.CallerFrom(ctx)})
		if err != nil {
			return err
		}
		*into = page.NewUsers(found.Items)
	}
	return p.t.Page(w, r, "explore.html", v)
}

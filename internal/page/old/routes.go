package old

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

// Routes are the pages, where html_url leads.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.route("GET /{owner}/{repo}/pulls", p.PullList),
		p.route("GET /{owner}/{repo}/pull/{file}", p.Pull),
	}
}

// route is a page about a repository. It is found as repo.Service.With does, and errors are pages, too.
func (p *Pages) route(address string, h repo.Handler) route.Route {
	found := p.repos.With(account.Pull, h)
	page := func(w http.ResponseWriter, r *http.Request) error {
		web.From(r.Context()).Form = p.render.errors
		return found(w, r)
	}
	return route.New(route.Pull, address, page).In(route.Pages).Calls(h)
}

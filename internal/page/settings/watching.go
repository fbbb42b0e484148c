package settings

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

type watchingView struct {
	view
	Repos []page.Repository
}

// GET /settings/watching
//
// Watching lists the repositories that the caller watches.
func (p *Pages) Watching(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "watching", "Watched repositories")
	if err != nil {
		return err
	}
	v := &watchingView{view: f}
	more, err := p.kit.Get(r, "/user/subscriptions", page.Part(r, 50), &v.Repos)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "watching.html", v)
}

// POST /settings/watching
//
// Unwatch ends the watching of the repository repo, which is OWNER/NAME.
func (p *Pages) Unwatch(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	owner, name, _ := strings.Cut(f.Get("repo"), "/")
	err = p.kit.Change(r, "DELETE", "/repos"+web.Path(owner, name)+"/subscription", nil, nil)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	return page.Done(w, r, "/settings/watching", "You no longer watch "+owner+"/"+name+".")
}

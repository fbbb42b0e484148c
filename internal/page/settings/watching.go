package settings

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/star"
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
	at := page.At(r, 50)
	list, total, err := p.stars.Repos(r.Context(), caller(r), caller(r).Login, star.Watch, star.Order{}, at)
	if err != nil {
		return err
	}
	for _, m := range list {
		v.Repos = append(v.Repos, page.NewRepository(m.Access))
	}
	v.Pages = page.PagerOf(r, at, total)
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
	if err := p.unwatch(r, owner, name); err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	return page.Done(w, r, "/settings/watching", "You no longer watch "+owner+"/"+name+".")
}

func (p *Pages) unwatch(r *http.Request, owner, name string) error {
	a, err := p.repos.Find(r.Context(), caller(r), owner, name)
	if err != nil || a.Moved {
		return err
	}
	ctx, err := p.kit.DeleteArchived(r, &a.Access, account.Pull)
	if err != nil {
		return err
	}
	_, err = p.stars.Subscribe(ctx, &a.Access, star.NoWish)
	return err
}

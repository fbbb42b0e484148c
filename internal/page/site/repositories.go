package site

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo/settings"
	"arbor/internal/search"
	"arbor/internal/web"
)

// listed is a repository with what only administrators see.
type listed struct {
	page.Repository
	Size int64 // KiB
}

type repositoriesView struct {
	view
	Text  string
	List  []listed
	Total int64
	Typed string
}

const repositoriesSize = 50

// GET /site/repositories
//
// Repositories lists all repositories, also private ones, or those that the search q finds.
func (p *Pages) Repositories(w http.ResponseWriter, r *http.Request) error {
	v, err := p.repositories(r)
	return p.t.Show(w, r, "repositories.html", v, err)
}

func (p *Pages) repositories(r *http.Request) (*repositoriesView, error) {
	f, err := p.frame(r, "repositories", "Repositories")
	if err != nil {
		return nil, err
	}
	v := &repositoriesView{view: f, Text: strings.TrimSpace(page.Clip(web.QueryOf(r).Get("q"), 200).Text)}
	at := page.At(r, repositoriesSize)
	found, err := p.Searches.Find(r.Context(), search.Question{Text: strings.TrimSpace("fork:true " + v.Text),
		Sort: "updated", Page: at, Caller: caller(r)})
	if errs.Is(err, errs.Invalid) { // not a valid search
		v.Problem, err = page.ProblemOf(err)
		return v, err
	}
	if err != nil {
		return nil, err
	}
	for _, a := range found.Items {
		v.List = append(v.List, listed{page.NewRepository(a), a.SizeKB})
	}
	v.Total, v.Pages = found.Total, page.PagesOf(r, found.More(at))
	return v, nil
}

// POST /site/repositories
//
// ChangeRepository does with the repository repo, OWNER/NAME, what do says: archive, unarchive, or back,
// which shows a withdrawn fork to its owner again.
func (p *Pages) ChangeRepository(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	owner, name, _ := strings.Cut(f.Text("repo"), "/")
	done, err := p.changeRepository(r, f.Get("do"), owner, name)
	if err == nil {
		return page.Done(w, r, page.ReturnTo(f.Get("return_to"), "/site/repositories"), owner+"/"+name+done)
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "Repository %q not found.", errs.Clip(f.Text("repo")))
	}
	return page.RefuseWith(p.t, w, r, "repositories.html", err, p.repositories, func(v *repositoriesView) {
		v.Typed = f.Get("repo")
	})
}

// changeRepository does with a repository what do says, and returns what was done, to go behind its name.
func (p *Pages) changeRepository(r *http.Request, do, owner, name string) (done string, err error) {
	if do != "archive" && do != "unarchive" && do != "back" {
		return "", errs.New(errs.Malformed, "The form does not say what is to be done.")
	}
	found, err := p.Repos.Find(r.Context(), caller(r), owner, name)
	if err != nil {
		return "", err
	}
	if do == "back" {
		return " is shown to its owner again.", p.Networks.GiveBack(r.Context(), caller(r), found.ID)
	}
	if done = " is no longer archived."; do == "archive" {
		done = " was archived."
	}
	ctx, err := p.kit.WriteArchived(r, &found.Access, account.Admin)
	if err == nil {
		_, err = p.Settings.Edit(ctx, &found.Access, settings.Edit{Archived: web.Some(do == "archive")})
	}
	return done, err
}

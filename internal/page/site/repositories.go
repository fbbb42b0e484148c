package site

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// repository is a repository with what only administrators see.
type repository struct {
	page.Repository
	Size int64 // KiB
}

type repositoriesView struct {
	view
	Text  string
	List  []repository
	Total int64 `json:"total_count"`
	Typed string
}

const repositoriesSize = 50

// GET /site/repositories
//
// Repositories lists all repositories, also private ones, or those that the search q finds.
func (p *Pages) Repositories(w http.ResponseWriter, r *http.Request) error {
	v, err := p.repositories(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "repositories.html", v)
}

func (p *Pages) repositories(r *http.Request) (*repositoriesView, error) {
	f, err := p.frame(r, "repositories", "Repositories")
	if err != nil {
		return nil, err
	}
	v := &repositoriesView{view: f, Text: strings.TrimSpace(page.Clip(web.QueryOf(r).Get("q"), 200).Text)}
	var found struct {
		Total int64 `json:"total_count"`
		Items []repository
	}
	q := page.Part(r, repositoriesSize, "q", strings.TrimSpace("fork:true "+v.Text), "sort", "updated")
	more, err := p.kit.Get(r, "/search/repositories", q, &found)
	if errs.Is(err, errs.Invalid) { // not a valid search
		v.Problem, err = page.ProblemOf(err)
	}
	v.List, v.Total, v.Pages = found.Items, found.Total, page.PagesOf(r, more)
	return v, err
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
	path := "/repos" + web.Path(owner, name)
	var done string
	switch f.Get("do") {
	case "archive":
		done = " was archived."
		err = p.kit.Change(r, "PATCH", path, map[string]bool{"archived": true}, nil)
	case "unarchive":
		done = " is no longer archived."
		err = p.kit.Change(r, "PATCH", path, map[string]bool{"archived": false}, nil)
	case "back":
		done = " is shown to its owner again."
		err = p.giveBack(r, owner, name)
	default:
		err = errs.New(errs.Malformed, "The form does not say what is to be done.")
	}
	if err == nil {
		return page.Done(w, r, page.ReturnTo(f.Get("return_to"), "/site/repositories"), owner+"/"+name+done)
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "Repository %q not found.", errs.Clip(f.Text("repo")))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.repositories(r)
	if err != nil {
		return err
	}
	v.Problem, v.Typed = problem, f.Get("repo")
	return p.t.Again(w, r, "repositories.html", problem, v)
}

func (p *Pages) giveBack(r *http.Request, owner, name string) error {
	found, err := p.Repos.Find(r.Context(), caller(r), owner, name)
	if err != nil {
		return err
	}
	return p.Networks.GiveBack(r.Context(), found.ID)
}

package reposettings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// keysView is the deploy keys of the repository.
type keysView struct {
	view
	Keys  []page.Key
	Typed string // the title
	Key   string
	Write bool
}

// GET /{owner}/{repo}/settings/keys
//
// Keys lists the deploy keys. Errors: 401, 403.
func (p *Pages) Keys(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.keys(r, a)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "keys.html", v)
}

func (p *Pages) keys(r *http.Request, a *repo.Access) (*keysView, error) {
	v := &keysView{}
	var err error
	if v.view, err = p.frame(r, a, "keys", "Deploy keys"); err != nil {
		return nil, err
	}
	more, err := p.kit.Get(r, api(a)+"/keys", page.Part(r, 50), &v.Keys)
	v.Pages = page.PagesOf(r, more)
	return v, err
}

// POST /{owner}/{repo}/settings/keys
//
// ChangeKeys adds a deploy key, or with do=remove ends the one of id. Errors: 401, 403, 404.
func (p *Pages) ChangeKeys(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done := "The deploy key was added."
	if f.Get("do") == "remove" {
		done = "The deploy key was removed."
		err = p.kit.Change(r, "DELETE", api(a)+"/keys"+web.Path(f.Get("id")), nil, nil)
		if errs.Is(err, errs.NotFound) {
			err = nil // somebody else was faster
		}
	} else {
		err = p.kit.Change(r, "POST", api(a)+"/keys",
			map[string]any{"title": f.Text("title"), "key": f.Text("key"),
				"read_only": !f.Checked("write")}, nil)
	}
	if err == nil {
		return page.Done(w, r, at(a, "/keys"), done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.keys(r, a)
	if err != nil {
		return err
	}
	v.Problem, v.Typed, v.Key, v.Write = problem, f.Get("title"), f.Get("key"), f.Checked("write")
	return p.t.Again(w, r, "keys.html", problem, v)
}

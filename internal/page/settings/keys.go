package settings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

type keysView struct {
	view
	Keys  []page.Key
	Typed string // the title
	Key   string
}

// GET /settings/keys
//
// Keys lists the caller's SSH keys.
func (p *Pages) Keys(w http.ResponseWriter, r *http.Request) error {
	v, err := p.keys(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "keys.html", v)
}

func (p *Pages) keys(r *http.Request) (*keysView, error) {
	v := &keysView{}
	var err error
	if v.view, err = p.frame(r, "keys", "SSH keys"); err != nil {
		return nil, err
	}
	more, err := p.kit.Get(r, "/user/keys", page.Part(r, 50), &v.Keys)
	v.Pages = page.PagesOf(r, more)
	return v, err
}

// POST /settings/keys
//
// ChangeKeys adds a key, or with do=remove ends the one of id.
func (p *Pages) ChangeKeys(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done := "The key was added."
	if f.Get("do") == "remove" {
		done = "The key was removed."
		err = p.kit.Change(r, "DELETE", "/user/keys"+web.Path(f.Get("id")), nil, nil)
		if errs.Is(err, errs.NotFound) {
			err = nil // it is gone already
		}
	} else {
		body := map[string]string{"title": f.Text("title"), "key": f.Text("key")}
		err = p.kit.Change(r, "POST", "/user/keys", body, nil)
	}
	if err == nil {
		return page.Done(w, r, "/settings/keys", done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.keys(r)
	if err != nil {
		return err
	}
	v.Problem, v.Typed, v.Key = problem, f.Get("title"), f.Get("key")
	return p.t.Again(w, r, "keys.html", problem, v)
}

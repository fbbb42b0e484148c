package reposettings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/account/key"
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
	return p.t.Show(w, r, "keys.html", v, err)
}

func (p *Pages) keys(r *http.Request, a *repo.Access) (*keysView, error) {
	v := &keysView{}
	var err error
	if v.view, err = p.frame(r, a, "keys", "Deploy keys"); err != nil {
		return nil, err
	}
	list, err := p.of.Settings.Keys(r.Context(), a.ID)
	at := page.At(r, 50)
	for _, one := range page.CutOf(at, list) {
		v.Keys = append(v.Keys, page.NewKey(&one))
	}
	v.Pages = page.PagerOf(r, at, int64(len(list)))
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
		err = p.removeKey(r, a, f.Get("id"))
	} else {
		err = p.addKey(r, a, key.NewKey{Title: f.Text("title"), Text: f.Text("key"), ReadOnly: !f.Checked("write")})
	}
	if err == nil {
		return page.Done(w, r, at(a, "/keys"), done)
	}
	return page.RefuseWith(p.t, w, r, "keys.html", err,
		func(r *http.Request) (*keysView, error) { return p.keys(r, a) },
		func(v *keysView) { v.Typed, v.Key, v.Write = f.Get("title"), f.Get("key"), f.Checked("write") })
}

func (p *Pages) addKey(r *http.Request, a *repo.Access, n key.NewKey) error {
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err == nil {
		_, err = p.of.Settings.AddKey(ctx, a, a.Caller.ID, n)
	}
	return err
}

// removeKey removes a deploy key, unless somebody else was faster.
func (p *Pages) removeKey(r *http.Request, a *repo.Access, id string) error {
	number, is := web.ParseNumber(id)
	if !is {
		return nil
	}
	ctx, err := p.kit.DeleteArchived(r, a, account.Admin)
	if err == nil {
		err = p.of.Settings.RemoveKey(ctx, a, number)
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return err
}

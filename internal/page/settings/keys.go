package settings

import (
	"net/http"

	"arbor/internal/account/key"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
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
	v, err := p.keyList(r)
	return p.t.Show(w, r, "keys.html", v, err)
}

const keysSize = 50

func (p *Pages) keyList(r *http.Request) (*keysView, error) {
	v := &keysView{}
	var err error
	if v.view, err = p.frame(r, "keys", "SSH keys"); err != nil {
		return nil, err
	}
	all, err := p.keys.PublicKeys(r.Context(), caller(r).Login)
	if err != nil {
		return nil, err
	}
	at := page.At(r, keysSize)
	for _, k := range page.CutOf(at, all) {
		v.Keys = append(v.Keys, page.NewKey(&k))
	}
	v.Pages = page.PagerOf(r, at, int64(len(all)))
	return v, nil
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
		err = p.removeKey(r, f)
	} else {
		err = p.addKey(r, f)
	}
	if err == nil {
		return page.Done(w, r, "/settings/keys", done)
	}
	return page.RefuseWith(p.t, w, r, "keys.html", err, p.keyList, func(v *keysView) {
		v.Typed, v.Key = f.Get("title"), f.Get("key")
	})
}

func (p *Pages) addKey(r *http.Request, f page.Form) error {
	ctx, err := p.kit.WriteOwn(r, scope.WriteKeys, false)
	if err == nil {
		_, err = p.keys.AddOwnKey(ctx, caller(r), key.NewKey{Title: f.Text("title"), Text: f.Text("key")})
	}
	return err
}

// removeKey ends a key; a key that is already gone is not an error.
func (p *Pages) removeKey(r *http.Request, f page.Form) error {
	ctx, err := p.kit.DeleteOwn(r, scope.AdminKeys, false)
	if err != nil {
		return err
	}
	id, _ := web.ParseNumber(f.Get("id"))
	if err = p.keys.RemoveOwnKey(ctx, caller(r), id); errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

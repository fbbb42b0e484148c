package settings

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/web"
)

type oauthAppsView struct {
	view
	List []*oauth.App
}

// GET /settings/oauth-apps
//
// OAuthApps lists the OAuth Apps that belong to the caller and to organizations that the caller owns.
func (p *Pages) OAuthApps(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "oauth-apps", "OAuth Apps")
	if err != nil {
		return err
	}
	v := &oauthAppsView{view: f}
	v.List, err = p.oauth.Own(r.Context(), caller(r))
	return p.t.Show(w, r, "oauthapps.html", v, err)
}

// oauthForm is what the form of an OAuth App shows.
type oauthForm struct {
	oauth.About
	Addresses string // callbacks, one a line
}

func readOAuthApp(f page.Form) (form oauthForm) {
	form.Name, form.Description, form.Homepage = f.Text("name"), f.Text("description"), f.Text("homepage")
	form.Addresses, form.DeviceFlow = f.Text("callbacks"), f.Checked("device_flow")
	form.Callbacks = strings.Fields(form.Addresses)
	return form
}

type newOAuthAppView struct {
	view
	oauthForm
	Owner string // login
}

// GET /settings/oauth-apps/new
//
// NewOAuthApp shows the form of an OAuth App of the caller's own.
func (p *Pages) NewOAuthApp(w http.ResponseWriter, r *http.Request) error {
	return p.newOAuthApp(w, r, caller(r).Login)
}

// GET /organizations/{org}/settings/oauth-apps/new
//
// NewOAuthAppOf shows the form of an OAuth App of an organization, which its owners send.
func (p *Pages) NewOAuthAppOf(w http.ResponseWriter, r *http.Request) error {
	return p.newOAuthApp(w, r, web.Param(r, "org"))
}

func (p *Pages) newOAuthApp(w http.ResponseWriter, r *http.Request, owner string) error {
	f, err := p.frame(r, "oauth-apps", "New OAuth App")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "newoauthapp.html", &newOAuthAppView{f, oauthForm{}, owner})
}

// POST /settings/oauth-apps
//
// CreateOAuthApp creates an OAuth App of the account owner.
func (p *Pages) CreateOAuthApp(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newOAuthAppView{oauthForm: readOAuthApp(f), Owner: f.Text("owner")}
	if v.view, err = p.frame(r, "oauth-apps", "New OAuth App"); err != nil {
		return err
	}
	ctx, err := p.kit.Room(r.Context(), caller(r))
	var a *oauth.App
	if err == nil {
		a, err = p.oauth.Create(ctx, caller(r), v.Owner, v.About)
	}
	if err == nil {
		return page.Done(w, r, "/settings/oauth-apps/"+a.ClientID,
			"The OAuth App was created. Create a client secret for it.")
	}
	return p.t.Refuse(w, r, "newoauthapp.html", err, v)
}

// oauthAppView is an OAuth App with the form that changes it.
type oauthAppView struct {
	view
	oauthForm
	App    *oauth.Owned
	Secret string // that was just made; empty: none
}

// GET /settings/oauth-apps/{client_id}
//
// OAuthApp shows an OAuth App of the caller's own, with its secrets but for their values. Error: 404.
func (p *Pages) OAuthApp(w http.ResponseWriter, r *http.Request) error {
	v, err := p.oauthApp(r)
	return p.t.Show(w, r, "oauthapp.html", v, err)
}

func (p *Pages) oauthApp(r *http.Request) (*oauthAppView, error) {
	a, err := p.oauth.Get(r.Context(), caller(r), web.Param(r, "client_id"))
	if err != nil {
		return nil, err
	}
	f, err := p.frame(r, "oauth-apps", a.Name)
	return &oauthAppView{view: f, App: a, oauthForm: oauthForm{a.About, strings.Join(a.Callbacks, "\n")}}, err
}

// POST /settings/oauth-apps/{client_id}
//
// ChangeOAuthApp changes the OAuth App, or as do says makes or removes a client secret, ends all that users allowed it,
// gives it to another account, or deletes it once its name is typed. Error: 404.
func (p *Pages) ChangeOAuthApp(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.oauthApp(r)
	if err != nil {
		return err
	}
	to, done, err := p.changeOAuthApp(r, f, v)
	switch {
	case err == nil && v.Secret != "":
		if v.App, err = p.oauth.Get(r.Context(), caller(r), v.App.ClientID); err != nil {
			return err
		}
		return p.t.Secret(w, r, "oauthapp.html", v)
	case err == nil:
		return page.Done(w, r, to, done)
	}
	return p.t.Refuse(w, r, "oauthapp.html", err, v)
}

// changeOAuthApp does what a form says, and returns the page to which it leads, and what it tells there.
func (p *Pages) changeOAuthApp(r *http.Request, f page.Form, v *oauthAppView) (to, done string, err error) {
	ctx, by, id := r.Context(), caller(r), v.App.ClientID
	list := "/settings/oauth-apps"
	to = list + "/" + id
	switch f.Get("do") {
	case "secret":
		if ctx, err = p.kit.Room(ctx, by); err == nil {
			v.Secret, err = p.oauth.NewSecret(ctx, by, id)
		}
		return to, "", err
	case "drop":
		n, _ := web.ParseNumber(f.Get("id"))
		return to, "The client secret was removed.", p.oauth.DropSecret(ctx, by, id, n)
	case "revoke":
		return to, "All tokens of the OAuth App were revoked.", p.oauth.EndAll(ctx, by, id)
	case "transfer":
		to := f.Text("owner")
		return list, "The OAuth App belongs to " + to + " now.", p.oauth.Transfer(ctx, by, id, to)
	case "delete":
		if f.Text("confirm") != v.App.Name {
			return "", "", errs.Newf(errs.Invalid, "Nothing was done: type %s to confirm.", v.App.Name)
		}
		return list, "The OAuth App " + v.App.Name + " was deleted.", p.oauth.Remove(ctx, by, id)
	}
	v.oauthForm = readOAuthApp(f)
	if ctx, err = p.kit.Room(ctx, by); err == nil {
		err = p.oauth.Edit(ctx, by, id, v.About)
	}
	return to, "The OAuth App was saved.", err
}

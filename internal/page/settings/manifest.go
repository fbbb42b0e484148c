package settings

import (
	"net/http"

	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// A program asks for an App by a form of its own page, which the browser sends here with the manifest. Such a
// request comes from another site: it has no caller and changes nothing. The page that answers it sends the
// manifest again, now from this site, so that the answer knows the signed-in user and asks whether to create
// the App.

// askedView is an App that a program asks for.
type askedView struct {
	view
	app.Manifest
	JSON  string // of the manifest; empty: it was wrong
	State string // of the program
	Owner string // login; empty: nobody signed in yet
	To    string // the page's address
	Go    bool   // the page sends its form by itself
}

// LeadsTo implements page.Outward.
func (v *askedView) LeadsTo() string { return v.RedirectSite() }

// maxState is the greatest length of what a program wants to have back.
const maxState = 1000

// POST /settings/apps/new
//
// AskForApp asks the person at the browser whether the App of a manifest shall be made, for the own account.
func (p *Pages) AskForApp(w http.ResponseWriter, r *http.Request) error {
	v := &askedView{To: "/settings/apps/new"}
	if c := caller(r); c != nil {
		v.Owner = c.Login
	}
	return p.ask(w, r, v)
}

// POST /organizations/{org}/settings/apps/new
//
// AskForAppOf is AskForApp for an organization.
func (p *Pages) AskForAppOf(w http.ResponseWriter, r *http.Request) error {
	v := &askedView{To: "/organizations" + web.Path(web.Param(r, "org")) + "/settings/apps/new"}
	if caller(r) != nil {
		v.Owner = web.Param(r, "org")
	}
	return p.ask(w, r, v)
}

func (p *Pages) ask(w http.ResponseWriter, r *http.Request, v *askedView) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if v.view, err = p.frame(r, "apps", "New GitHub App"); err != nil {
		return err
	}
	v.JSON, v.State, v.Go = f.Get("manifest"), web.QueryOf(r).Get("state"), !f.Checked("again")
	if v.Manifest, err = app.ParseManifest([]byte(v.JSON)); err == nil && len(v.State) > maxState {
		err = errs.Newf(errs.Invalid, "state has %d bytes at most", maxState)
	}
	if err == nil {
		return p.t.Page(w, r, "askedapp.html", v)
	}
	v.JSON, v.State, v.Manifest = "", "", app.Manifest{}
	return p.t.Refuse(w, r, "askedapp.html", err, v)
}

// confirmed creates the App of a manifest, and redirects back to the program.
func (p *Pages) confirmed(w http.ResponseWriter, r *http.Request, f page.Form) (err error) {
	v := &askedView{JSON: f.Get("manifest"), State: f.Get("state"), Owner: f.Text("owner"),
		To: "/settings/apps/new"}
	if v.view, err = p.frame(r, "apps", "New GitHub App"); err != nil {
		return err
	}
	ctx := r.Context()
	if v.Manifest, err = app.ParseManifest([]byte(v.JSON)); err == nil {
		ctx, err = p.kit.Room(ctx, caller(r))
	}
	if err == nil {
		v.Name = f.Text("name")
		if v.Redirect == "" {
			var made *app.Made
			if made, err = p.apps.CreateBy(ctx, caller(r), v.Owner, v.Manifest); err == nil {
				return p.t.Secret(w, r, "madeapp.html",
					&madeApp{v.view, made.App, made.Secret, made.PrivateKey})
			}
		} else {
			var code string
			if _, code, err = p.apps.Register(ctx, caller(r), v.Owner, v.Manifest); err == nil {
				http.Redirect(w, r, v.RedirectWith(code, v.State), http.StatusSeeOther)
				return nil
			}
		}
	}
	return p.t.Refuse(w, r, "askedapp.html", err, v)
}

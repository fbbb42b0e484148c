package settings

import (
	"net/http"
	"strings"

	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// offerView is an App as visible to everyone.
type offerView struct {
	page.Frame
	App  *app.App
	Owns bool // the App is the viewer's to change
}

// GET /github-apps/{app_slug}
//
// Offer shows an App and what it asks for: a public one to everybody, others to their owners. Error:
// 404.
func (p *Pages) Offer(w http.ResponseWriter, r *http.Request) error {
	a, err := p.apps.Offered(r.Context(), caller(r), web.Param(r, "app_slug"))
	if err != nil {
		return err
	}
	v := &offerView{App: a}
	if v.Frame, err = p.kit.Frame(r, v.App.Name); err != nil {
		return err
	}
	if v.Viewer != nil {
		_, _, err = p.apps.Owned(r.Context(), caller(r), v.App.Slug)
		if v.Owns = err == nil; err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return p.t.Page(w, r, "offer.html", v)
}

type installView struct {
	view
	App    *app.App
	Places []string // logins of the accounts on which the caller may install it
	On     string
	Some   bool   // for the repositories that are named, else for all
	Repos  string // their names
	Leads  string // where the browser goes then: the App signs in who installs it; empty: to the installation
	// the form repeats Leads and what the App asks for, so that a later change is not allowed unseen
}

// LeadsTo implements page.Outward.
func (v *installView) LeadsTo() string { return v.Leads }

// GET /github-apps/{app_slug}/installations/new
//
// InstallForm shows what an App wants, and asks where it is to be installed. Error: 404.
func (p *Pages) InstallForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.install(r)
	return p.t.Show(w, r, "install.html", v, err)
}

func (p *Pages) install(r *http.Request) (*installView, error) {
	a, err := p.apps.Offered(r.Context(), caller(r), web.Param(r, "app_slug"))
	if err != nil {
		return nil, err
	}
	v := &installView{App: a, On: caller(r).Login}
	if v.view, err = p.frame(r, "apps", "Install "+a.Name); err != nil {
		return nil, err
	}
	if v.Leads, err = p.oauth.LeadsOnInstall(r.Context(), a.ClientID); err != nil {
		return nil, err
	}
	v.Places, err = p.places(r)
	return v, err
}

// POST /github-apps/{app_slug}/installations/new
//
// Install installs the App on the account on: for all its repositories, or with some=1 for those that repos
// names. An App that wants it is authorized, too, and the browser led to it. seen and leads repeat what the page showed.
// Errors: 404, 409 if that changed, 422.
func (p *Pages) Install(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.install(r)
	if err != nil {
		return err
	}
	v.On, v.Some, v.Repos = f.Get("on"), f.Get("some") == "1", f.Get("repos")
	var names []string
	for _, name := range strings.Fields(strings.ReplaceAll(v.Repos, ",", " ")) {
		names = append(names, strings.TrimPrefix(name, v.On+"/"))
	}
	if v.Some != (len(names) > 0) {
		v.Problem = &page.Problem{Status: http.StatusUnprocessableEntity,
			Message: "Name the repositories that the App is for."}
		if !v.Some {
			v.Problem.Message = "You named repositories, and chose all of them: choose one or the other."
		}
		return p.t.Again(w, r, "install.html", v.Problem, v)
	}
	if f.Get("leads") != v.Leads {
		v.Problem = &page.Problem{Status: http.StatusConflict, Message: "The App changed where it leads whoever " +
			"installs it, so nothing was installed. Review what it requests now."}
		return p.t.Again(w, r, "install.html", v.Problem, v)
	}
	var made *app.Installation
	ctx, err := p.kit.Room(r.Context(), caller(r))
	if err == nil {
		made, err = p.apps.InstallBy(ctx, caller(r), v.App.Slug, f.Get("seen"), v.On, names)
	}
	to := ""
	if err == nil && v.Leads != "" {
		to, err = p.oauth.OnInstall(ctx, caller(r), v.App.ClientID, made.App.Permissions.String(), made.ID)
		// who signed in with a token; a suspended owner; an App that changed since it was installed: it asks by itself
		if errs.Is(err, errs.Forbidden) || errs.Is(err, errs.NotFound) || errs.Is(err, errs.Conflict) {
			err = nil
		}
	}
	if err == nil && to != "" {
		return page.LeadOut(w, r, to)
	}
	if err == nil {
		return page.Done(w, r, "/settings/installations"+web.Path(made.ID.String()),
			v.App.Name+" was installed.")
	}
	return p.t.Refuse(w, r, "install.html", err, v)
}

package settings

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/app"
	"arbor/internal/page"
	"arbor/internal/web"
)

type appsView struct {
	view
	List []*app.App
}

// GET /settings/apps
//
// Apps lists the Apps that belong to the caller and to organizations that the caller owns.
func (p *Pages) Apps(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "apps", "GitHub Apps")
	if err != nil {
		return err
	}
	v := &appsView{view: f}
	if v.List, err = p.apps.Own(r.Context(), caller(r)); err != nil {
		return err
	}
	return p.t.Page(w, r, "apps.html", v)
}

type installView struct {
	view
	App    *app.App
	Places []string // logins of the accounts on which the caller may install it
	On     string
	Some   bool   // for the repositories that are named, else for all
	Repos  string // their names
}

// GET /settings/apps/{app_slug}/install
//
// InstallForm shows what an App wants, and asks where it is to be installed. Error: 404.
func (p *Pages) InstallForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.install(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "install.html", v)
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
	v.Places, err = p.places(r)
	return v, err
}

// POST /settings/apps/{app_slug}/install
//
// Install installs the App on the account on: for all its repositories, or with some=1 for those that repos names.
// Error: 404.
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
	if v.Some {
		for _, name := range strings.Fields(strings.ReplaceAll(v.Repos, ",", " ")) {
			names = append(names, strings.TrimPrefix(name, v.On+"/"))
		}
		if len(names) == 0 {
			v.Problem = &page.Problem{Status: http.StatusUnprocessableEntity, Message: "Name the repositories that the App is for."}
			return p.t.Again(w, r, "install.html", v.Problem, v)
		}
	}
	made, err := p.apps.InstallBy(r.Context(), caller(r), v.App.Slug, v.On, names)
	if err == nil {
		return page.SeeOther(w, r, "/settings/installations"+web.Path(strconv.FormatInt(made.ID, 10))+"?done=1")
	}
	if v.Problem, err = page.ProblemOf(err); err != nil {
		return err
	}
	return p.t.Again(w, r, "install.html", v.Problem, v)
}

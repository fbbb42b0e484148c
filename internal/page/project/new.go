package project

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/license"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// newView is what new.html shows: the form as it was sent.
type newView struct {
	page.Frame
	Owners      []string
	Owner, Name string
	Description string
	Private     bool
	Readme      bool
	Ignore      string
	License     string
	Ignores     []string
	Licenses    []*license.License
}

// GET /new
//
// New answers the form for a new repository. The query's owner, name and visibility fill it in.
func (p *Pages) New(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	v := &newView{Owner: q.Get("owner"), Name: q.Get("name"), Private: q.Get("visibility") == "private"}
	return p.t.Show(w, r, "new.html", v, p.fill(r, v))
}

// fill reads what can be chosen.
func (p *Pages) fill(r *http.Request, v *newView) (err error) {
	if v.Frame, err = p.kit.Frame(r, "New repository"); err != nil {
		return err
	}
	v.Ignores, v.Licenses = repo.Gitignores(), license.Featured()
	v.Owners, err = p.owners(r, account.CallerFrom(r.Context()))
	return err
}

// POST /new
//
// Create creates a repository and redirects to it. What is wrong with the form is shown on it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newView{Owner: form.Text("owner"), Name: form.Text("name"), Description: form.Text("description"),
		Private: form.Get("visibility") == "private", Readme: form.Checked("readme"),
		Ignore:  form.Get("gitignore"),
		License: form.Get("license")}
	made, err := p.create(r, v)
	if err == nil {
		return page.Done(w, r, pathOf(made), made+" was created.")
	}
	return page.RefuseWith(p.t, w, r, "new.html", err,
		func(r *http.Request) (*newView, error) { return v, p.fill(r, v) }, nil)
}

// create creates the repository, and returns its OWNER/NAME.
func (p *Pages) create(r *http.Request, v *newView) (fullName string, err error) {
	caller := account.CallerFrom(r.Context())
	ctx, err := p.kit.WriteOwn(r, scope.PublicRepo, false)
	if err != nil {
		return "", err
	}
	n := repo.NewRepo{Owner: v.Owner, Name: v.Name, Description: web.OrNil(v.Description), Private: v.Private,
		AutoInit: v.Readme, Gitignore: v.Ignore, License: v.License}
	create := p.Settings.CreateForOrg
	if n.Owner == "" || strings.EqualFold(n.Owner, caller.Login) {
		n.Owner, create = caller.Login, p.Settings.Create
	}
	made, err := create(ctx, caller, n)
	if err != nil {
		return "", err
	}
	return made.FullName(), nil
}

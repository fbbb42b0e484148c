package site

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// GET /site/organizations
//
// Organizations lists all organizations by login, or those with q in login or name.
func (p *Pages) Organizations(w http.ResponseWriter, r *http.Request) error {
	v, err := p.directory(r, account.Organization, "organizations", "Organizations")
	return p.t.Show(w, r, "organizations.html", v, err)
}

type newOrganizationView struct {
	view
	Login, Owner, Name string
}

// GET /site/organizations/new
//
// NewOrganization shows the form of an organization.
func (p *Pages) NewOrganization(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "organizations", "New organization")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "neworganization.html", &newOrganizationView{view: f, Owner: caller(r).Login})
}

// POST /site/organizations/new
//
// CreateOrganization creates an organization with its first owner.
func (p *Pages) CreateOrganization(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	frame, err := p.frame(r, "organizations", "New organization")
	if err != nil {
		return err
	}
	v := &newOrganizationView{view: frame, Login: f.Text("login"), Owner: f.Text("owner"),
		Name: f.Text("name")}
	made, err := p.createOrganization(r, v)
	if err == nil {
		return page.Done(w, r, "/site/organizations"+web.Path(made.Login), made.Login+" was created.")
	}
	return p.t.Refuse(w, r, "neworganization.html", err, v)
}

func (p *Pages) createOrganization(r *http.Request, v *newOrganizationView) (*account.Account, error) {
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err != nil {
		return nil, err
	}
	return p.Accounts.FoundOrg(ctx, account.NewOrg{Login: v.Login, Owner: v.Owner, Name: v.Name,
		By: caller(r)})
}

// organizationView is an organization as site administrators see it.
type organizationView struct {
	*personView
	Owners  []string
	Members int64
}

// GET /site/organizations/{login}
//
// Organization shows an organization. Error: 404.
func (p *Pages) Organization(w http.ResponseWriter, r *http.Request) error {
	v, err := p.organization(r)
	return p.t.Show(w, r, "organization.html", v, err)
}

func (p *Pages) organization(r *http.Request) (*organizationView, error) {
	a, err := p.person(r, account.Organization, "organizations")
	if err != nil {
		return nil, err
	}
	v := &organizationView{personView: a}
	_, v.Owners, v.Members, err = p.Accounts.Organization(r.Context(), a.Account.Login)
	return v, notFound(err)
}

// POST /site/organizations/{login}
//
// ChangeOrganization does with it what do says: rename, quota, delete. Error: 404.
func (p *Pages) ChangeOrganization(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.organization(r)
	if err != nil {
		return err
	}
	to, done, err := p.changeAccount(r, f, v.personView, "/site/organizations")
	if err == nil {
		return page.Done(w, r, to, done)
	}
	if errs.Is(err, errs.NotFound) { // somebody else was faster
		return errs.Absent()
	}
	v.Typed = f.Get("confirm")
	return p.t.Refuse(w, r, "organization.html", err, v)
}

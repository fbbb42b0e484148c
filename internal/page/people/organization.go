package people

import (
	"net/http"
	"net/url"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/web"
)

// orgSettings is what orgsettings.html shows.
type orgSettings struct {
	page.Frame
	Org   account // with what was typed, when the form is shown again
	Login string  // as the address has it
}

// GET /orgs/{org}/settings
//
// OrgSettings answers the form for an organization's owners. Errors: 403, 404.
func (p *Pages) OrgSettings(w http.ResponseWriter, r *http.Request) error {
	v, err := p.orgSettings(r)
	if err != nil {
		return err
	}
	v.Shown = page.Shown(bodyOf(&v.Org))
	return p.t.Page(w, r, "orgsettings.html", v)
}

// bodyOf is what the form says that shows an organization.
func bodyOf(org *account) map[string]any {
	return orgBody(page.Form{Values: url.Values{"name": {org.Name}, "description": {org.Description},
		"email": {org.Email}, "company": {org.Company}, "blog": {org.Blog}, "location": {org.Location},
		"default_repository_permission": {org.Permission}}}, org.PrivateForks)
}

func (p *Pages) orgSettings(r *http.Request) (*orgSettings, error) {
	v := &orgSettings{}
	if _, err := p.kit.Get(r, web.Path("orgs", web.Param(r, "org")), nil, &v.Org); err != nil {
		return nil, page.Absent(err)
	}
	if err := p.mayOwn(r, v.Org.Login); err != nil {
		return nil, err
	}
	var err error
	v.Frame, err = p.kit.Frame(r, "Settings · "+v.Org.Login)
	v.Tab, v.Login = "settings", v.Org.Login
	return v, err
}

// mayOwn asks whether the caller owns an organization. Error: 403.
func (p *Pages) mayOwn(r *http.Request, org string) error {
	role, err := p.role(r, org, page.ViewerOf(r))
	if err == nil && role != "admin" {
		err = errs.New(errs.Forbidden, "The settings of an organization are for its owners.")
	}
	return err
}

// hooksOf is the request's organization as what has webhooks.
func (p *Pages) hooksOf(r *http.Request) *webhook.Place {
	org := web.Param(r, "org")
	at := web.Path("orgs", org)
	return &webhook.Place{API: at, Settings: at + "/settings", Org: org,
		May: func() error {
			if _, err := p.kit.Get(r, at, nil, nil); err != nil {
				return page.Absent(err)
			}
			return p.mayOwn(r, org)
		},
		Frame: func(title string) (page.Frame, error) { return p.kit.Frame(r, title+" · "+org) }}
}

// deletion is what orgdelete.html shows.
type deletion struct {
	*orgSettings
	Typed string // in place of the login
}

// GET /orgs/{org}/settings/delete
//
// DeleteOrgForm shows an owner what is deleted with the organization. Errors: 403, 404.
func (p *Pages) DeleteOrgForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.orgSettings(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "orgdelete.html", &deletion{v, ""})
}

// POST /orgs/{org}/settings/delete
//
// DeleteOrg deletes the organization, for good, once its login is typed. Errors: 403, 404.
func (p *Pages) DeleteOrg(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.orgSettings(r)
	if err != nil {
		return err
	}
	if form.Text("confirm") != v.Login {
		err = errs.Newf(errs.Invalid, "Nothing was done: type %s to confirm.", v.Login)
	} else if err = p.kit.Change(r, http.MethodDelete, web.Path("orgs", v.Login), nil, nil); err == nil {
		return page.Done(w, r, "/", v.Login+" was deleted.")
	}
	if v.Problem, err = page.ProblemOf(err); err != nil {
		return err
	}
	return p.t.Again(w, r, "orgdelete.html", v.Problem, &deletion{v, form.Get("confirm")})
}

// orgBody is what a form says of an organization.
func orgBody(form page.Form, privateForks bool) map[string]any {
	body := map[string]any{"members_can_fork_private_repositories": privateForks}
	for _, field := range []string{"name", "description", "email", "company", "blog", "location",
		"default_repository_permission"} {
		body[field] = form.Text(field)
	}
	return body
}

// POST /orgs/{org}/settings
//
// ChangeOrg changes an organization. Errors: 403, 404; what is wrong with the form is shown on it.
func (p *Pages) ChangeOrg(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	org := web.Param(r, "org")
	var now account
	if _, err := p.kit.Get(r, web.Path("orgs", org), nil, &now); err != nil {
		return page.Absent(err)
	}
	if err := p.mayOwn(r, org); err != nil {
		return err
	}
	body, err := form.Edit(orgBody(form, form.Checked("private_forks")), bodyOf(&now))
	if err == nil {
		err = p.kit.Change(r, http.MethodPatch, web.Path("orgs", org), body, nil)
	}
	if err == nil {
		return page.Done(w, r, web.Path("orgs", org, "settings"), "The settings were saved.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.orgSettings(r)
	if err != nil {
		return err
	}
	v.Problem, v.Shown = problem, form.Get("shown")
	v.Org.Name, v.Org.Description, v.Org.Email = form.Get("name"), form.Get("description"), form.Get("email")
	v.Org.Company, v.Org.Blog, v.Org.Location = form.Get("company"), form.Get("blog"), form.Get("location")
	v.Org.Permission, v.Org.PrivateForks = form.Get("default_repository_permission"),
		form.Checked("private_forks")
	return p.t.Again(w, r, "orgsettings.html", problem, v)
}

// newOrg is what neworg.html shows.
type newOrg struct {
	page.Frame
	Login, Name, Owner string
}

// GET /new/organization
//
// NewOrg answers the form for a new organization to site administrators, and says to others who makes them.
func (p *Pages) NewOrg(w http.ResponseWriter, r *http.Request) error {
	f, err := p.kit.Frame(r, "New organization")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "neworg.html", &newOrg{Frame: f, Owner: f.Viewer.Login})
}

// POST /new/organization
//
// CreateOrg creates an organization. Errors: 404 for callers without the right; what is wrong with the form
// is shown on it.
func (p *Pages) CreateOrg(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newOrg{Login: form.Text("login"), Name: form.Text("name"), Owner: form.Text("owner")}
	var made page.User
	body := map[string]string{"login": v.Login, "admin": v.Owner, "profile_name": v.Name}
	err = p.kit.Change(r, http.MethodPost, "/admin/organizations", body, &made)
	if err == nil {
		return page.SeeOther(w, r, web.Path(made.Login))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if v.Frame, err = p.kit.Frame(r, "New organization"); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "neworg.html", problem, v)
}

package people

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// orgSettings is what orgsettings.html shows.
type orgSettings struct {
	page.Frame
	Org   shown               // with what was typed, when the form is shown again
	Login string              // as the address has it
	Rule  *account.FactorRule // nil: its people need no second factor
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
func bodyOf(org *shown) map[string]any {
	return orgBody(page.Form{Values: url.Values{"name": {org.Name}, "description": {org.Bio},
		"email": {org.Email}, "company": {org.Company}, "blog": {org.Blog}, "location": {org.Location},
		"default_repository_permission": {org.Permission}, "private_forks": {checked(org.PrivateForks)},
		"public_repositories":  {checked(org.PublicRepositories)},
		"private_repositories": {checked(org.PrivateRepositories)}}})
}

func (p *Pages) orgSettings(r *http.Request) (*orgSettings, error) {
	org, err := p.owned(r)
	if err != nil {
		return nil, err
	}
	v := &orgSettings{Org: org}
	v.Frame, err = p.kit.Frame(r, "Settings · "+v.Org.Login)
	v.Tab, v.Login = "settings", v.Org.Login
	if err != nil {
		return nil, err
	}
	v.Rule, err = page.FactorRule(r, p.of.Accounts, v.Login)
	return v, err
}

// owned is the request's organization, for its owners. Errors: 403, 404.
func (p *Pages) owned(r *http.Request) (shown, error) {
	org, may, err := p.of.Accounts.Org(r.Context(), caller(r), web.Param(r, "org"))
	if err != nil {
		return shown{}, err
	}
	if roleOf(r, may) != "admin" {
		return shown{}, errs.New(errs.Forbidden, "The settings of an organization are for its owners.")
	}
	return newOrg(org, may), nil
}

// hooksOf is the request's organization as what has webhooks.
func (p *Pages) hooksOf(r *http.Request) *webhook.Owner {
	org := web.Param(r, "org")
	at := web.Path("orgs", org)
	return &webhook.Owner{API: at, Settings: at + "/settings", Org: org,
		May: func() error {
			_, err := p.owned(r)
			return err
		},
		Frame: func(title string) (page.Frame, error) { return p.kit.Frame(r, title+" · "+org) },
		Open: func(act hook.Act) (ctx context.Context, o hook.Owner, err error) {
			open := p.kit.DeleteOwn
			if act == hook.Changing {
				open = p.kit.WriteOwn
			}
			ctx, err = open(r, scope.AdminOrgHooks, false)
			if err == nil {
				o, err = p.kit.Hooks.OfOrg(ctx, account.CallerFrom(ctx), org)
			}
			return ctx, o, err
		}}
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
	} else if err = p.deleteOrg(r, v.Login); err == nil {
		return page.Done(w, r, "/", v.Login+" was deleted.")
	}
	return p.t.Refuse(w, r, "orgdelete.html", err, &deletion{v, form.Get("confirm")})
}

func (p *Pages) deleteOrg(r *http.Request, login string) error {
	ctx, err := p.kit.DeleteOwn(r, scope.AdminOrg, false)
	if err != nil {
		return err
	}
	return p.of.Accounts.DeleteOrg(ctx, caller(r), login)
}

// checked is the value of a checkbox.
func checked(on bool) string {
	if on {
		return "1"
	}
	return ""
}

// The fields of the form that do not belong to the profile.
const (
	permissionField = "default_repository_permission"
	forksField      = "private_forks"
	publicField     = "public_repositories"
	privateField    = "private_repositories"
)

// orgBody is what a form says of an organization.
func orgBody(form page.Form) map[string]any {
	body := map[string]any{}
	for _, field := range []string{forksField, publicField, privateField} {
		body[field] = form.Checked(field)
	}
	for _, field := range []string{"name", "description", "email", "company", "blog", "location", permissionField} {
		body[field] = form.Text(field)
	}
	return body
}

// orgEdit is what those fields of a form say that were changed.
func orgEdit(form page.Form, changed map[string]json.RawMessage) (e account.Edit) {
	for name, value := range map[string]*web.Opt[string]{"name": &e.Name, "description": &e.Bio, "email": &e.Email,
		"company": &e.Company, "blog": &e.Blog, "location": &e.Location, permissionField: &e.DefaultPermission} {
		if _, ok := changed[name]; ok {
			*value = web.Some(form.Text(name))
		}
	}
	for name, value := range map[string]*web.Opt[bool]{forksField: &e.PrivateForks, publicField: &e.CreatePublic,
		privateField: &e.CreatePrivate} {
		if _, ok := changed[name]; ok {
			*value = web.Some(form.Checked(name))
		}
	}
	if e.CreatePublic.Set || e.CreatePrivate.Set { // the form shows what both switches of the API have led to
		public, private := form.Checked(publicField), form.Checked(privateField)
		e.CreatePublic, e.CreatePrivate = web.Some(public), web.Some(private)
		e.CreateRepos = web.Some(public || private)
	}
	return e
}

// editOrg changes the organization as its form says. Errors: those of [page.Form.Edit] and of package account.
func (p *Pages) editOrg(r *http.Request, form page.Form, now *shown) error {
	changed, err := form.Edit(orgBody(form), bodyOf(now))
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err != nil {
		return err
	}
	_, err = p.of.Accounts.EditOrg(ctx, caller(r), now.Login, orgEdit(form, changed))
	return err
}

// POST /orgs/{org}/settings
//
// ChangeOrg changes an organization. Errors: 403, 404; what is wrong with the form is shown on it.
func (p *Pages) ChangeOrg(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	now, err := p.owned(r)
	if err != nil {
		return err
	}
	if err = p.editOrg(r, form, &now); err == nil {
		return page.Done(w, r, web.Path("orgs", web.Param(r, "org"), "settings"), "The settings were saved.")
	}
	return page.RefuseWith(p.t, w, r, "orgsettings.html", err, p.orgSettings, func(v *orgSettings) {
		v.Shown = form.Get("shown")
		v.Org.Name, v.Org.Bio, v.Org.Email = form.Get("name"), form.Get("description"), form.Get("email")
		v.Org.Company, v.Org.Blog, v.Org.Location = form.Get("company"), form.Get("blog"), form.Get("location")
		v.Org.Permission, v.Org.PrivateForks = form.Get(permissionField), form.Checked(forksField)
		v.Org.PublicRepositories, v.Org.PrivateRepositories = form.Checked(publicField), form.Checked(privateField)
	})
}

// POST /orgs/{org}/settings/two-factor
//
// RequireFactors has the organization require second factors after the days of grace, or with do=end no longer. Errors:
// 403, 404; 422 is shown with the form.
func (p *Pages) RequireFactors(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.orgSettings(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err != nil {
		return err
	}
	if err = page.ChangeFactorRule(ctx, form, p.of.Accounts, caller(r), v.Login); err == nil {
		return page.Done(w, r, web.Path("orgs", v.Login, "settings"), "The settings were saved.")
	}
	v.Shown = page.Shown(bodyOf(&v.Org))
	return p.t.Refuse(w, r, "orgsettings.html", err, v)
}

// orgForm is what neworg.html shows.
type orgForm struct {
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
	return p.t.Page(w, r, "neworg.html", &orgForm{Frame: f, Owner: f.Viewer.Login})
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
	v := &orgForm{Login: form.Text("login"), Name: form.Text("name"), Owner: form.Text("owner")}
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err == nil {
		var made *account.Account
		made, err = p.of.Accounts.FoundOrg(ctx, account.NewOrg{Login: v.Login, Owner: v.Owner, Name: v.Name,
			By: caller(r)})
		if err == nil {
			return page.SeeOther(w, r, web.Path(made.Login))
		}
	}
	return page.RefuseWith(p.t, w, r, "neworg.html", err, func(r *http.Request) (_ *orgForm, err error) {
		v.Frame, err = p.kit.Frame(r, "New organization")
		return v, err
	}, nil)
}

package people

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/team"
	"arbor/internal/web"
)

// typedTeam is what a form says of a team.
type typedTeam struct {
	Name, Description, Privacy, Parent string
	Quiet                              bool
}

// GET /orgs/{org}/people/teams/{team_slug}/settings
//
// TeamSettings answers the form for a team to owners of the organization. Errors: 403, 404.
func (p *Pages) TeamSettings(w http.ResponseWriter, r *http.Request) error {
	v, err := p.teamSettings(r)
	if err != nil {
		return err
	}
	t := v.Team
	v.Typed = typedTeam{Name: t.Name, Description: page.TextOf(t.Description), Privacy: t.Privacy(),
		Quiet: t.Quiet}
	if t.Parent != nil {
		v.Typed.Parent = t.Parent.Slug
	}
	return p.t.Page(w, r, "teamsettings.html", v)
}

func (p *Pages) teamSettings(r *http.Request) (*teamView, error) {
	v, err := p.team(r, "settings")
	if err == nil && !v.Team.Owner {
		err = account.MustOwn(&v.Team.Org)
	}
	return v, err
}

// POST /orgs/{org}/people/teams/{team_slug}/settings
//
// ChangeTeam changes the team, or with the action delete deletes it. Errors: 403, 404; what is wrong with the form is
// shown on it.
func (p *Pages) ChangeTeam(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.teamSettings(r)
	if err != nil {
		return err
	}
	if form.Get("action") == "delete" {
		ctx, err := p.kit.DeleteOwn(r, scope.AdminOrg, false)
		if err == nil {
			err = p.of.Teams.Delete(ctx, caller(r), refOf(r))
		}
		if err != nil {
			return err
		}
		return page.Done(w, r, web.Path("orgs", v.Org.Login, "people", "teams"),
			"The team "+v.Team.Name+" was deleted.")
	}
	v.Typed = typed(form)
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err == nil {
		var a *team.Access
		if a, err = p.of.Teams.Edit(ctx, caller(r), refOf(r), v.Typed.edit()); err == nil {
			return page.Done(w, r, a.Path()+"/settings", "The settings were saved.")
		}
	}
	return p.t.Refuse(w, r, "teamsettings.html", err, v)
}

func typed(form page.Form) typedTeam {
	return typedTeam{Name: form.Text("name"), Description: form.Text("description"),
		Privacy: form.Get("privacy"),
		Parent:  form.Text("parent"), Quiet: form.Checked("quiet")}
}

// edit turns what a form says into a change.
func (t typedTeam) edit() team.Edit {
	e := team.Edit{Name: web.Some(t.Name), Description: web.Some(t.Description),
		Secret: web.Some(t.Privacy == "secret"), Quiet: web.Some(t.Quiet)}
	if e.ParentSlug = web.Some(t.Parent); t.Parent == "" {
		e.ParentSlug = web.Opt[string]{Set: true, Null: true}
	}
	return e
}

// GET /orgs/{org}/people/new-team
//
// NewTeam answers the form for a new team to owners of the organization. Errors: 403, 404.
func (p *Pages) NewTeam(w http.ResponseWriter, r *http.Request) error {
	v, err := p.newTeam(r)
	if err != nil {
		return err
	}
	v.Typed = typedTeam{Privacy: "closed", Parent: web.QueryOf(r).Get("parent")}
	return p.t.Page(w, r, "teamsettings.html", v)
}

func (p *Pages) newTeam(r *http.Request) (v *teamView, err error) {
	if _, err = p.owned(r); err != nil {
		return nil, err
	}
	v = &teamView{Section: "new"}
	v.Frame, v.Org, v.Role, err = p.orgFrame(r, "New team")
	return v, err
}

// POST /orgs/{org}/people/new-team
//
// CreateTeam creates a team. Errors: 403, 404; what is wrong with the form is shown on it.
func (p *Pages) CreateTeam(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.newTeam(r)
	if err != nil {
		return err
	}
	v.Typed = typed(form)
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err == nil {
		var a *team.Access
		n := team.NewTeam{Edit: v.Typed.edit()}
		if a, err = p.of.Teams.Create(ctx, caller(r), v.Org.Login, n); err == nil {
			return page.SeeOther(w, r, a.Path())
		}
	}
	return p.t.Refuse(w, r, "teamsettings.html", err, v)
}

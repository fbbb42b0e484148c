package people

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/team"
	"arbor/internal/web"
)

// teams is what teams.html shows.
type teams struct {
	page.Frame
	Org  shown
	Role string // of the viewer in the organization
	List []*team.Team
}

// GET /orgs/{org}/people/teams
//
// Teams lists the teams of an organization that the viewer may see, for its members. Errors: 403, 404.
func (p *Pages) Teams(w http.ResponseWriter, r *http.Request) error {
	v := &teams{}
	var err error
	if v.Frame, v.Org, v.Role, err = p.orgFrame(r, "Teams"); err != nil {
		return err
	}
	at := page.At(r, perList)
	list, total, err := p.of.Teams.List(r.Context(), caller(r), v.Org.Login, false, at)
	if err != nil {
		return err
	}
	v.List, v.Pages = list, page.PagerOf(r, at, total)
	return p.t.Page(w, r, "teams.html", v)
}

// orgFrame reads the organization of the request for pages about its teams. Error: 404.
func (p *Pages) orgFrame(r *http.Request, title string) (f page.Frame, org shown, role string, err error) {
	a, may, err := p.of.Accounts.Org(r.Context(), caller(r), web.Param(r, "org"))
	if err != nil {
		return f, org, "", err
	}
	f, err = p.kit.Frame(r, title+" · "+a.Login)
	f.Tab = "teams"
	return f, newOrg(a, may), roleOf(r, may), err
}

// teamView is what team.html, teamrepos.html and teamsettings.html show.
type teamView struct {
	page.Frame
	Org      shown
	Role     string // of the viewer in the organization
	Team     *team.Access
	Section  string // members, repositories or settings
	Children []*team.Team
	People   []teamPerson
	Repos    []team.Repo
	Roles    []string
	Typed    typedTeam
	Login    string // that was typed, or the name of a repository
	Chosen   string // the role that was chosen
}

type teamPerson struct {
	page.User
	Role  string
	Below bool // only in a team below
	Self  bool
}

func refOf(r *http.Request) team.Ref {
	return team.Ref{Org: web.Param(r, "org"), Slug: web.Param(r, "team_slug")}
}

// team reads the team of the request. Error: 404.
func (p *Pages) team(r *http.Request, section string) (*teamView, error) {
	v := &teamView{Section: section, Roles: account.Grants(), Chosen: "pull"}
	var err error
	if v.Frame, v.Org, v.Role, err = p.orgFrame(r, "Team"); err != nil {
		return nil, err
	}
	if v.Team, err = p.of.Teams.Get(r.Context(), caller(r), refOf(r)); err != nil {
		return nil, err
	}
	v.Title = v.Team.Name + " · " + v.Org.Login
	return v, nil
}

// GET /orgs/{org}/people/teams/{team_slug}
//
// Team shows a team with its members and child teams. Error: 404.
func (p *Pages) Team(w http.ResponseWriter, r *http.Request) error {
	v, err := p.teamMembers(r)
	return p.t.Show(w, r, "team.html", v, err)
}

func (p *Pages) teamMembers(r *http.Request) (*teamView, error) {
	v, err := p.team(r, "members")
	if err != nil {
		return nil, err
	}
	if v.Children, _, err = p.of.Teams.Children(r.Context(), caller(r), refOf(r),
		page.First(web.MaxPageSize)); err != nil {
		return nil, err
	}
	at := page.At(r, perList)
	list, total, err := p.of.Teams.Members(r.Context(), caller(r), refOf(r), "all", at)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		u := *page.NewUser(m.Account)
		v.People = append(v.People, teamPerson{User: u, Role: m.Role.String(), Below: m.Role == team.Below,
			Self: v.Viewer != nil && v.Viewer.ID == u.ID})
	}
	v.Pages = page.PagerOf(r, at, total)
	return v, nil
}

// POST /orgs/{org}/people/teams/{team_slug}
//
// ChangeTeamMembers adds a member to the team, changes a role, or removes a member, as the form's action says.
// Errors: 404; those of the API are shown on the page.
func (p *Pages) ChangeTeamMembers(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	before, err := p.team(r, "members")
	if err != nil {
		return err
	}
	login := form.Text("login")
	err = p.changeTeamMember(r, login, form)
	if err == nil {
		done, to := login+" is in the team now.", before.Team.Path()
		if form.Get("action") == "remove" {
			done = login + " was removed from the team."
			if account.Fold(login) == account.Fold(caller(r).Login) {
				to = web.Path("orgs", before.Org.Login, "people", "teams")
			}
		}
		return page.Done(w, r, to, done)
	}
	return page.RefuseWith(p.t, w, r, "team.html", nobody(err, login), p.teamMembers, func(v *teamView) {
		v.Login, v.Chosen = login, form.Get("role")
	})
}

func (p *Pages) changeTeamMember(r *http.Request, login string, form page.Form) error {
	if login == "" {
		return errs.Validation(errs.Field{Resource: "TeamMember", Field: "login", Code: errs.MissingField})
	}
	if form.Get("action") == "remove" {
		ctx, err := p.kit.DeleteOwn(r, scope.AdminOrg, false)
		if err == nil {
			err = p.of.Teams.RemoveMember(ctx, caller(r), refOf(r), login)
		}
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err != nil {
		return err
	}
	role := team.Member
	if form.Get("role") == "maintainer" {
		role = team.Maintainer
	}
	_, err = p.of.Teams.AddMember(ctx, caller(r), refOf(r), login, web.Some(role))
	return err
}

// GET /orgs/{org}/people/teams/{team_slug}/repositories
//
// TeamRepos lists the repositories of a team that the viewer may see. Error: 404.
func (p *Pages) TeamRepos(w http.ResponseWriter, r *http.Request) error {
	v, err := p.teamRepos(r)
	return p.t.Show(w, r, "teamrepos.html", v, err)
}

func (p *Pages) teamRepos(r *http.Request) (*teamView, error) {
	v, err := p.team(r, "repositories")
	if err != nil {
		return nil, err
	}
	at := page.At(r, perList)
	list, total, err := p.of.Teams.Repos(r.Context(), caller(r), refOf(r), at)
	v.Repos, v.Pages = list, page.PagerOf(r, at, total)
	return v, err
}

// POST /orgs/{org}/people/teams/{team_slug}/repositories
//
// ChangeTeamRepos gives the team a role on a repository, or takes the repository away, as the form's action says.
// Errors: 404; those of the API are shown on the page.
func (p *Pages) ChangeTeamRepos(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	before, err := p.team(r, "repositories")
	if err != nil {
		return err
	}
	name := form.Text("name")
	if err = p.changeTeamRepo(r, before, name, form); err == nil {
		done := "The team has " + name + " now."
		if form.Get("action") == "remove" {
			done = "The team no longer has " + name + "."
		}
		return page.Done(w, r, before.Team.Path()+"/repositories", done)
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "There is no repository %q.", errs.Clip(name))
	}
	return page.RefuseWith(p.t, w, r, "teamrepos.html", err, p.teamRepos, func(v *teamView) {
		v.Login, v.Chosen = name, form.Get("role")
	})
}

func (p *Pages) changeTeamRepo(r *http.Request, v *teamView, name string, form page.Form) error {
	found, err := p.kit.Repos.Find(r.Context(), caller(r), v.Org.Login, name)
	if err != nil {
		return err
	}
	if err := caller(r).Allows(scope.AdminOrg, false); err != nil {
		return err
	}
	a := &found.Access
	if form.Get("action") == "remove" {
		ctx, err := p.kit.Delete(r, a, account.Pull) // the operation asks for more
		if err == nil {
			err = p.of.Teams.RemoveRepo(ctx, a, refOf(r))
		}
		return err
	}
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err == nil {
		err = p.of.Teams.AddRepo(ctx, a, refOf(r), form.Get("role"))
	}
	return err
}

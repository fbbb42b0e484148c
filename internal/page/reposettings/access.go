package reposettings

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// collaborator is a person with a role.
type collaborator struct {
	page.User
	RoleName string `json:"role_name"` // read, write or admin
}

// accessView is the people who were given a role on the repository.
type accessView struct {
	view
	People []collaborator
	Login  string // that was typed
	Role   string // that was chosen
	Org    bool   // an organization owns the repository
}

const accessSize = 50

// GET /{owner}/{repo}/settings/access
//
// Access lists the collaborators. Errors: 401, 403.
func (p *Pages) Access(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.access(r, a)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "access.html", v)
}

func (p *Pages) access(r *http.Request, a *repo.Access) (*accessView, error) {
	v := &accessView{Role: "push", Org: a.Owner.Kind == account.Organization}
	var err error
	if v.view, err = p.frame(r, a, "access", "Access"); err != nil {
		return nil, err
	}
	more, err := p.kit.Get(r, api(a)+"/collaborators",
		page.Part(r, accessSize, "affiliation", "direct"), &v.People)
	v.Pages = page.PagesOf(r, more)
	return v, err
}

// roleNames are the roles that the form offers, as people read them.
var roleNames = map[string]string{"pull": "Read", "push": "Write", "admin": "Admin"}

// POST /{owner}/{repo}/settings/access
//
// ChangeAccess sets the role of the person login, or with do=remove takes it away. Errors: 401, 403, 404.
func (p *Pages) ChangeAccess(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	login := strings.TrimPrefix(f.Text("login"), "@")
	self := account.Fold(login) == account.Fold(a.Caller.Login)
	to := api(a) + "/collaborators" + web.Path(login)
	done := login + " has the role " + roleNames[f.Get("role")] + " now."
	switch {
	case login == "":
		err = errs.New(errs.Invalid, "Whom? Type a login.")
	case f.Get("do") == "remove":
		done = login + " was removed."
		err = p.kit.Change(r, "DELETE", to, nil, nil)
	default:
		err = p.kit.Change(r, "PUT", to, map[string]string{"permission": f.Get("role")}, nil)
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "There is nobody with the login %q.", errs.Clip(login))
	}
	switch {
	case err == nil && self: // callers who may no longer see the settings are redirected to what they may see
		return page.SeeOther(w, r, path(a))
	case err == nil:
		return page.Done(w, r, at(a, "/access"), done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.access(r, a)
	if err != nil {
		return err
	}
	v.Problem, v.Login, v.Role = problem, f.Text("login"), f.Get("role")
	return p.t.Again(w, r, "access.html", problem, v)
}

// installation is an App on the repository's owner's account.
type installation struct {
	ID          int64
	AppSlug     string `json:"app_slug"`
	TargetID    int64  `json:"target_id"`
	Selection   string `json:"repository_selection"`
	Permissions map[string]string
	SuspendedAt *string `json:"suspended_at"`
}

// Every reports that the App reaches all repositories of the account.
func (i *installation) Every() bool { return i.Selection == "all" }

// installationsView is the Apps on the owner's account.
type installationsView struct {
	view
	Apps []installation
}

// GET /{owner}/{repo}/settings/installations
//
// Installations lists the Apps that are installed on the owner's account, as far as the viewer knows of them.
// Errors: 401, 403.
func (p *Pages) Installations(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := p.frame(r, a, "installations", "GitHub Apps")
	if err != nil {
		return err
	}
	v := &installationsView{view: f}
	var all struct{ Installations []installation }
	if _, err := p.kit.Get(r, "/user/installations", page.Query("per_page", "100"), &all); err != nil {
		return err
	}
	for _, i := range all.Installations {
		if account.ID(i.TargetID) == a.OwnerID {
			v.Apps = append(v.Apps, i)
		}
	}
	return p.t.Page(w, r, "installations.html", v)
}

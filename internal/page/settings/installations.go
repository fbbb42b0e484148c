package settings

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// installation is an App on an account.
type installation struct {
	ID          account.InstallationID
	Account     page.User
	AppSlug     string `json:"app_slug"`
	Selection   string `json:"repository_selection"`
	Permissions map[string]string
	Events      []string
	SuspendedAt *string `json:"suspended_at"`
}

// Every reports that the App reaches all repositories of the account.
func (i *installation) Every() bool { return i.Selection == "all" }

type installationsView struct {
	view
	List []installation
	// what waits for the caller's review, by the installation's id
	Asked map[account.InstallationID]*app.Asked
}

const installationsSize = 50

// GET /settings/installations
//
// Installations lists the Apps on the caller's account, and on the organizations to which the caller belongs.
func (p *Pages) Installations(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "installations", "Installed GitHub Apps")
	if err != nil {
		return err
	}
	v := &installationsView{view: f}
	var all struct{ Installations []installation }
	more, err := p.kit.Get(r, "/user/installations", page.Part(r, installationsSize), &all)
	if err != nil {
		return err
	}
	v.List, v.Pages = all.Installations, page.PagesOf(r, more)
	if v.Asked, err = p.apps.AskedOf(r.Context(), caller(r)); err != nil {
		return err
	}
	return p.t.Page(w, r, "installations.html", v)
}

type installationView struct {
	view
	App   installation
	Repos []page.Repository
	Typed string     // the name of a repository
	Owns  bool       // the caller decides about the App there
	Ends  bool       // the caller can end a suspension
	By    []string   // who suspends it, in words
	Asked *app.Asked // what the App asks for beyond what was granted, for the account's owners; nil: nothing
}

// GET /settings/installations/{installation_id}
//
// Installation shows an App that is installed, and the repositories that it reaches, as far as the caller
// sees them. Error: 404.
func (p *Pages) Installation(w http.ResponseWriter, r *http.Request) error {
	v, err := p.installation(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "installation.html", v)
}

func (p *Pages) installation(r *http.Request) (*installationView, error) {
	f, err := p.frame(r, "installations", "Installed GitHub App")
	if err != nil {
		return nil, err
	}
	id, err := web.Number(r, "installation_id")
	if err != nil {
		return nil, err
	}
	v := &installationView{view: f}
	var all struct{ Installations []installation }
	if _, err := p.kit.Get(r, "/user/installations", page.Query("per_page", "100"), &all); err != nil {
		return nil, err
	}
	for _, i := range all.Installations {
		if i.ID == account.InstallationID(id) {
			v.App = i
		}
	}
	if v.App.ID == 0 {
		return nil, errs.Absent()
	}
	places, err := p.places(r)
	if err != nil {
		return nil, err
	}
	v.Owns = slices.Contains(places, v.App.Account.Login)
	if err := p.suspension(r, v); err != nil {
		return nil, err
	}
	asked, err := p.apps.AskedOf(r.Context(), caller(r))
	if err != nil {
		return nil, err
	}
	v.Asked = asked[v.App.ID]
	var reached struct{ Repositories []page.Repository }
	path := "/user/installations" + web.Path(web.Param(r, "installation_id")) + "/repositories"
	more, err := p.kit.Get(r, path, page.Part(r, 50), &reached)
	v.Repos, v.Pages = reached.Repositories, page.PagesOf(r, more)
	return v, err
}

// suspension finds who suspends the App, and whether the caller can end that.
func (p *Pages) suspension(r *http.Request, v *installationView) error {
	set, err := p.apps.SuspendedBy(r.Context(), v.App.ID)
	if err != nil {
		return err
	}
	for _, party := range []struct {
		by   app.Party
		name string
	}{{app.BySelf, "the App itself"}, {app.ByOwner, "the owner of the account"}, {app.ByOperator, "the operator"}} {
		if set[party.by] != 0 {
			v.By = append(v.By, party.name)
		}
	}
	v.Ends = set[app.ByOwner] != 0 || len(set) > 0 && caller(r).SiteAdmin
	return nil
}

// places are the logins of the accounts about whose Apps the caller decides: the own one, and organizations
// that it owns.
func (p *Pages) places(r *http.Request) ([]string, error) {
	list := []string{caller(r).Login}
	var all []struct {
		Role         string
		Organization struct{ Login string }
	}
	if _, err := p.kit.Get(r, "/user/memberships/orgs", page.Query("per_page", "100"), &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Role == "admin" {
			list = append(list, m.Organization.Login)
		}
	}
	return list, nil
}

// POST /settings/installations/{installation_id}
//
// ChangeInstallation does what do says: add lets the App reach one more repository of the account, by its
// name, remove one less; grant grants what the App asks for now, as seen says; suspend, unsuspend,
// uninstall. Error: 404.
func (p *Pages) ChangeInstallation(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.installation(r)
	if err != nil {
		return err
	}
	to, done := r.URL.Path, "The repository was added."
	switch f.Get("do") {
	case "grant":
		done = "The new permissions were accepted."
		err = p.apps.GrantBy(r.Context(), caller(r), v.App.ID, f.Get("seen"))
	case "suspend":
		done = "The App was suspended."
		err = p.apps.SuspendBy(r.Context(), caller(r), v.App.ID)
	case "unsuspend":
		done = "The App is no longer suspended."
		err = p.apps.UnsuspendBy(r.Context(), caller(r), v.App.ID)
	case "uninstall":
		to, done = "/settings/installations", "The App was uninstalled."
		err = p.apps.UninstallBy(r.Context(), caller(r), v.App.ID)
	case "remove":
		done = "The repository was removed."
		err = p.chooseRepo(r, v, f.Text("repo"), true)
	default:
		err = p.chooseRepo(r, v, f.Text("repo"), false)
	}
	if err == nil {
		return page.Done(w, r, to, done)
	}
	if v.Problem, err = page.ProblemOf(err); err != nil {
		return err
	}
	v.Typed = f.Get("repo")
	return p.t.Again(w, r, "installation.html", v.Problem, v)
}

// chooseRepo adds a repository of the account to an App's installation, or removes it. Errors: 403, 422.
func (p *Pages) chooseRepo(r *http.Request, v *installationView, name string, remove bool) error {
	if _, after, whole := strings.Cut(name, "/"); whole {
		name = after
	}
	var found struct{ ID int64 }
	_, err := p.kit.Get(r, "/repos"+web.Path(v.App.Account.Login, name), nil, &found)
	if errs.Is(err, errs.NotFound) {
		return errs.Newf(errs.Invalid, "%s has no repository %q that you see.", v.App.Account.Login,
			errs.Clip(name))
	}
	if err != nil {
		return err
	}
	method := "PUT"
	if remove {
		method = "DELETE"
	}
	path := "/user/installations" + web.Path(web.Param(r, "installation_id"), "repositories",
		strconv.FormatInt(found.ID, 10))
	return p.kit.Change(r, method, path, nil, nil)
}

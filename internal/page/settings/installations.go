package settings

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type installationsView struct {
	view
	List []*app.Installation
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
	all, err := p.apps.Known(r.Context(), caller(r))
	if err != nil {
		return err
	}
	at := page.At(r, installationsSize)
	v.List, v.Pages = page.CutOf(at, all), page.PagerOf(r, at, int64(len(all)))
	v.Asked, err = p.apps.AskedOf(r.Context(), caller(r))
	return p.t.Show(w, r, "installations.html", v, err)
}

type installationView struct {
	view
	App   *app.Installation
	Repos []page.Repository
	Typed string     // the name of a repository
	Owns  bool       // the caller decides about the App there
	Ends  bool       // the caller can end a suspension
	By    []string   // who suspends it, in words
	Asked *app.Asked // what the App asks for beyond what was granted, for the account's owners; nil: nothing
}

// GET /settings/installations/{installation_id}
//
// Installation shows an installed App and those of its repositories that the caller can see. Error: 404.
func (p *Pages) Installation(w http.ResponseWriter, r *http.Request) error {
	v, err := p.installation(r)
	return p.t.Show(w, r, "installation.html", v, err)
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
	v, at := &installationView{view: f}, page.At(r, installationsSize)
	i, repos, total, err := p.apps.ReposOf(r.Context(), caller(r), account.InstallationID(id), at)
	if err != nil {
		return nil, err
	}
	v.App, v.Repos, v.Pages = i, page.NewRepositories(repos), page.PagerOf(r, at, total)
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
	return v, nil
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
	all, _, err := p.accounts.OrgsOf(r.Context(), caller(r), caller(r).Login, page.First(100))
	for _, m := range all {
		if m.Owner {
			list = append(list, m.Org.Login)
		}
	}
	return list, err
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
	v.Typed = f.Get("repo")
	return p.t.Refuse(w, r, "installation.html", err, v)
}

// chooseRepo adds a repository of the account to an App's installation, or removes it. Errors: 403, 422.
func (p *Pages) chooseRepo(r *http.Request, v *installationView, name string, remove bool) error {
	if _, after, whole := strings.Cut(name, "/"); whole {
		name = after
	}
	found, err := p.repos.Find(r.Context(), caller(r), v.App.Account.Login, name)
	if errs.Is(err, errs.NotFound) || err == nil && found.Moved {
		return errs.Newf(errs.Invalid, "%s has no repository %q that you see.", v.App.Account.Login,
			errs.Clip(name))
	}
	if err != nil {
		return err
	}
	open, change := p.kit.WriteOwn, p.apps.AddRepo
	if remove {
		open, change = p.kit.DeleteOwn, p.apps.RemoveRepo
	}
	ctx, err := open(r, scope.Repo, false)
	if err != nil {
		return err
	}
	return change(ctx, caller(r), v.App.ID, found.ID)
}

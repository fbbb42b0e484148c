package settings

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// appPermissions are those that something here asks for, each with what it opens.
var appPermissions = [][2]string{
	{"contents", "Code, commits, branches, releases"}, {"issues", "Issues, labels and milestones"},
	{"pull_requests", "Pull requests and reviews"}, {"checks", "Check runs and suites"},
	{"statuses", "Statuses of commits"}, {"deployments", "Deployments"}, {"actions", "Environments"},
	{"administration", "Settings and collaborators of repositories"},
	{"repository_hooks", "Webhooks of repositories"},
	{"members", "Members of an organization"}, {"organization_administration", "Settings of an organization"},
	{"organization_hooks", "Webhooks of an organization"},
	{"email_addresses", "Email addresses of users that it acts for"},
	{"followers", "Whom these users follow"}, {"profile", "Their profiles"},
	{"git_ssh_keys", "Their SSH keys"}, {"gpg_keys", "Their GPG keys"},
}

// appEvents are those that something here makes, for Apps.
var appEvents = []string{
	"push", "pull_request", "pull_request_review", "pull_request_review_comment",
	"pull_request_review_thread", "issues", "issue_comment", "create", "delete", "commit_comment", "status",
	"deployment", "deployment_status", "check_run", "check_suite", "release", "label", "milestone", "star", "watch",
	"member", "public",
	"repository", "organization", "repository_dispatch",
}

// appForm is what the form of an App shows.
type appForm struct {
	app.Manifest
	HookActive bool
	Addresses  string // callbacks, one a line
}

// Choices are the permissions of the form, with those of the App that are not offered.
func (f *appForm) Choices() (list []permission) {
	rest := maps.Clone(f.Permissions)
	for _, x := range appPermissions {
		list = append(list, permission{x[0], x[1], f.Permissions[x[0]]})
		delete(rest, x[0])
	}
	delete(rest, "metadata") // every App has it
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		list = append(list, permission{name, "", rest[name]})
	}
	return list
}

// permission is one that an App may ask for.
type permission struct{ Name, What, Level string }

// EventChoices are the events of the form, with those of the App that are not offered.
func (f *appForm) EventChoices() []string {
	list := slices.Clone(appEvents)
	for _, e := range f.Events {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// Chosen reports whether the App is to receive an event.
func (f *appForm) Chosen(event string) bool { return slices.Contains(f.Events, event) }

// readApp reads the form of an App. Errors: 422.
func readApp(f page.Form) (form appForm, err error) {
	form.Name, form.Description, form.URL = f.Text("name"), f.Text("description"), f.Text("url")
	form.Public, form.Events = f.Checked("public"), f.List("events")
	form.Hook = app.Hook{URL: f.Text("hook_url"), Active: f.Checked("hook_active"),
		Secret: f.Get("hook_secret")}
	form.HookActive = form.Hook.Active
	form.Addresses = f.Text("callbacks")
	form.SignIn = oauth.About{Callbacks: strings.Fields(form.Addresses), Keeps: f.Checked("keeps_tokens"),
		OnInstall: f.Checked("on_install"), DeviceFlow: f.Checked("device_flow")}
	asked := map[string]string{}
	for name := range f.Values {
		if of, is := strings.CutPrefix(name, "permission-"); is && f.Get(name) != "" {
			asked[of] = f.Get(name)
		}
	}
	form.Permissions = scope.Permissions(asked)
	checked, err := scope.NewPermissions(asked)
	if err == nil {
		form.Permissions = checked
	}
	return form, err
}

// newAppView is the form of a new App.
type newAppView struct {
	view
	appForm
	Owner string // login
}

// GET /settings/apps/new
//
// NewApp shows the form of an App of the caller's own.
func (p *Pages) NewApp(w http.ResponseWriter, r *http.Request) error {
	return p.newApp(w, r, caller(r).Login)
}

// GET /organizations/{org}/settings/apps/new
//
// NewAppOf shows the form of an App of an organization, which its owners send.
func (p *Pages) NewAppOf(w http.ResponseWriter, r *http.Request) error {
	return p.newApp(w, r, web.Param(r, "org"))
}

func (p *Pages) newApp(w http.ResponseWriter, r *http.Request, owner string) error {
	f, err := p.frame(r, "apps", "New GitHub App")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "newapp.html", &newAppView{f, appForm{HookActive: true}, owner})
}

// madeApp shows what is shown once of an App.
type madeApp struct {
	view
	App    *app.App
	Secret string // of its hook; empty: as it was
	Key    string
}

// POST /settings/apps
//
// CreateApp creates an App of the account owner: as the form says, with keys shown only now; or as a
// program's manifest does, to which the browser is led back with a code.
func (p *Pages) CreateApp(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Get("manifest") != "" {
		return p.confirmed(w, r, f)
	}
	frame, err := p.frame(r, "apps", "New GitHub App")
	if err != nil {
		return err
	}
	form, err := readApp(f)
	ctx := r.Context()
	if err == nil {
		ctx, err = p.kit.Room(ctx, caller(r))
	}
	var made *app.Made
	if err == nil {
		made, err = p.apps.CreateBy(ctx, caller(r), f.Text("owner"), form.Manifest)
	}
	if err == nil {
		return p.t.Secret(w, r, "madeapp.html", &madeApp{frame, made.App, made.Secret, made.PrivateKey})
	}
	return p.t.Refuse(w, r, "newapp.html", err, &newAppView{frame, form, f.Text("owner")})
}

// ownAppView is an App with the form that changes it.
type ownAppView struct {
	view
	appForm
	App     *app.App
	SignsIn *oauth.Owned // its client secrets, and how many users it has
	Secret  string       // a client secret that was just made; empty: none
}

// GET /settings/apps/{app_slug}
//
// App shows an App of the caller's own. Error: 404.
func (p *Pages) App(w http.ResponseWriter, r *http.Request) error {
	v, err := p.app(r)
	return p.t.Show(w, r, "app.html", v, err)
}

func (p *Pages) app(r *http.Request) (*ownAppView, error) {
	a, h, err := p.apps.Owned(r.Context(), caller(r), web.Param(r, "app_slug"))
	if err != nil {
		return nil, err
	}
	f, err := p.frame(r, "apps", a.Name)
	v := &ownAppView{view: f, App: a}
	v.Manifest = app.Manifest{Name: a.Name, URL: a.ExternalURL, Public: a.Public, Hook: h,
		Permissions: a.Permissions,
		Events:      a.Events}
	if a.Description != nil {
		v.Description = *a.Description
	}
	v.HookActive = h.Active
	if err != nil {
		return nil, err
	}
	if v.SignsIn, err = p.apps.SignIn(r.Context(), caller(r), a.Slug); err != nil {
		return nil, err
	}
	v.SignIn, v.Addresses = v.SignsIn.About, strings.Join(v.SignsIn.Callbacks, "\n")
	return v, nil
}

// ofApp returns a page about the hook of an App that the caller administers. Error: 404.
func (p *Pages) ofApp(h webhook.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		slug := web.Param(r, "app_slug")
		a, _, err := p.apps.Owned(r.Context(), caller(r), slug)
		if err != nil {
			return err
		}
		return h(w, r, &webhook.Owner{API: "/app/hook", Settings: "/settings/apps" + web.Path(slug), App: true,
			May:   func() error { return nil }, // Open asks
			Frame: func(title string) (page.Frame, error) { return p.kit.Frame(r, title+" · "+a.Name) },
			Open: func(act hook.Act) (ctx context.Context, o hook.Owner, err error) {
				if ctx = r.Context(); act == hook.Changing {
					ctx, err = p.kit.Room(ctx, caller(r))
				}
				if err == nil {
					o, err = p.kit.Hooks.OfOwnApp(ctx, caller(r), slug)
				}
				return ctx, o, err
			}})
	}
}

// POST /settings/apps/{app_slug}
//
// ChangeApp changes the App, or as do says makes another private key, makes or removes a client secret, ends all that
// users allowed it, or deletes the App once its name is typed. Error: 404.
func (p *Pages) ChangeApp(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.app(r)
	if err != nil {
		return err
	}
	to, done := "/settings/apps"+web.Path(v.App.Slug), "The App was saved."
	switch slug := v.App.Slug; f.Get("do") {
	case "key":
		var key string
		ctx, refused := p.kit.Room(r.Context(), caller(r))
		if err = refused; err == nil {
			key, err = p.apps.NewKeyBy(ctx, caller(r), slug)
		}
		if err == nil {
			return p.t.Secret(w, r, "madeapp.html", &madeApp{v.view, v.App, "", key})
		}
	case "secret":
		ctx, refused := p.kit.Room(r.Context(), caller(r))
		if err = refused; err == nil {
			v.Secret, err = p.apps.NewClientSecret(ctx, caller(r), slug)
		}
		if err == nil {
			if v.SignsIn, err = p.apps.SignIn(r.Context(), caller(r), slug); err != nil {
				return err
			}
			return p.t.Secret(w, r, "app.html", v)
		}
	case "drop":
		n, _ := web.ParseNumber(f.Get("id"))
		done, err = "The client secret was removed.", p.apps.DropClientSecret(r.Context(), caller(r), slug, n)
	case "revoke":
		done, err = "All user tokens of the App were revoked.", p.apps.EndUsers(r.Context(), caller(r), slug)
	case "delete":
		to, done = "/settings/apps", "The App "+slug+" was deleted."
		if f.Text("confirm") != slug {
			err = errs.Newf(errs.Invalid, "Nothing was done: type %s to confirm.", slug)
		} else {
			err = p.apps.RemoveBy(r.Context(), caller(r), slug)
		}
	default:
		ctx, refused := p.kit.Room(r.Context(), caller(r))
		if v.appForm, err = readApp(f); err == nil {
			err = refused
		}
		if err == nil {
			err = p.apps.EditBy(ctx, caller(r), slug, v.Manifest)
		}
	}
	if err == nil {
		return page.Done(w, r, to, done)
	}
	return p.t.Refuse(w, r, "app.html", err, v)
}

package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/page"
	"arbor/internal/web"
)

// webhook is one in a list or on its page.
type webhook struct{ *hook.Hook }

// Failing reports that the last delivery did not arrive.
func (h webhook) Failing() bool { return h.code() >= 300 || h.LastStatus == "disabled" }

// Fine reports that the last delivery arrived.
func (h webhook) Fine() bool { return h.code() >= 200 && h.code() < 300 }

func (h webhook) code() int64 {
	if h.LastCode == nil {
		return 0
	}
	return *h.LastCode
}

// Message is what came of the last delivery.
func (h webhook) Message() string {
	if h.LastMessage == nil {
		return ""
	}
	return *h.LastMessage
}

// offered are the events that the form offers, those that something here makes.
var offered = [][2]string{
	{"push", "Commits were pushed"}, {"pull_request", "Pull requests change"},
	{"pull_request_review", "Reviews"}, {"pull_request_review_comment", "Comments on lines of pull requests"},
	{"pull_request_review_thread", "Conversations on lines are resolved"},
	{"issues", "Issues change"}, {"issue_comment", "Comments on issues and pull requests"},
	{"create", "A branch or tag was made"}, {"delete", "A branch or tag was deleted"},
	{"commit_comment", "Comments on commits"}, {"status", "A status was set on a commit"},
	{"check_run", "Check runs"}, {"check_suite", "Check suites"}, {"release", "Releases"},
	{"deployment", "Deployments"}, {"deployment_status", "Statuses of deployments"},
	{"label", "Labels change"}, {"milestone", "Milestones change"}, {"star", "Stars"},
	{"watch", "Somebody stars it"},
	{"fork", "Forks"}, {"member", "Collaborators change"}, {"public", "It became public"},
	{"repository", "The repository itself changes"}, {"deploy_key", "Deploy keys"},
	{"repository_dispatch", "An application sends an event"},
}

// hooksView is the list of webhooks.
type hooksView struct {
	View
	Hooks []webhook
}

// GET /{owner}/{repo}/settings/hooks
// GET /orgs/{org}/settings/hooks
//
// Hooks lists the webhooks. Errors: 401, 403.
func (p *Pages) Hooks(w http.ResponseWriter, r *http.Request, at *Owner) error {
	f, err := at.frame("Webhooks")
	if err != nil {
		return err
	}
	ctx, o, err := at.Open(hook.Reading)
	if err != nil {
		return err
	}
	found, err := p.kit.Hooks.List(ctx, o)
	if err != nil {
		return err
	}
	v := &hooksView{View: f}
	for _, h := range found { // a place has no more than fit on a page
		v.Hooks = append(v.Hooks, webhook{h})
	}
	return p.t.Page(w, r, "hooks.html", v)
}

// hookForm is what the form of a webhook shows.
type hookForm struct {
	URL, Type        string
	HasSecret        bool // one is stored, which is never shown
	Insecure, Active bool
	Which            string // push, all or some
	Chosen           []string
}

// Has reports that an event was chosen.
func (f *hookForm) Has(event string) bool { return slices.Contains(f.Chosen, event) }

// Events are the events on offer, and the hook's other events.
func (v *hookView) Events() [][2]string {
	list := slices.Clone(offered)
	if v.Org != "" {
		list = append(list, [2]string{"organization", "Members change"})
	}
	for _, e := range v.Chosen {
		if e != "*" && !slices.ContainsFunc(list, func(o [2]string) bool { return o[0] == e }) {
			list = append(list, [2]string{e, ""})
		}
	}
	return list
}

// formOf is the form that shows a hook.
func formOf(h *hook.Hook) hookForm {
	f := hookForm{URL: h.URL, Type: h.ContentType(), HasSecret: h.Secret != nil, Insecure: h.Insecure,
		Active: h.Active, Which: "some", Chosen: h.Events}
	switch {
	case slices.Contains(h.Events, "*"):
		f.Which = "all"
	case slices.Equal(h.Events, []string{"push"}):
		f.Which = "push"
	}
	return f
}

// readHook reads the form of a webhook.
func readHook(f page.Form, hasSecret bool) hookForm {
	return hookForm{URL: f.Text("url"), Type: f.Get("content_type"), HasSecret: hasSecret,
		Insecure: f.Checked("insecure"), Active: f.Checked("active"), Which: f.Get("which"),
		Chosen: f.List("events")}
}

// events are those that were chosen, in the order of their letters.
func (form *hookForm) events() []string {
	switch form.Which {
	case "all":
		return []string{"*"}
	case "push":
		return []string{"push"}
	}
	events := append([]string{}, form.Chosen...)
	slices.Sort(events)
	return events
}

// fields are what [page.Shown] and [page.Form.Edit] hold against each other. The secret is not among them:
// the page never knows the one that there is.
func (form *hookForm) fields() map[string]any {
	return map[string]any{"payload_URL": form.URL, "content_type": form.Type,
		"no_check_of_the_certificate": form.Insecure,
		"events":                      form.events(), "active": form.Active}
}

// onto copies the fields that the form changes to another state of the webhook.
func (form *hookForm) onto(now hookForm, changed map[string]json.RawMessage) hookForm {
	has := func(name string) bool { return changed[name] != nil }
	if has("payload_URL") {
		now.URL = form.URL
	}
	if has("content_type") {
		now.Type = form.Type
	}
	if has("no_check_of_the_certificate") {
		now.Insecure = form.Insecure
	}
	if has("events") {
		now.Which, now.Chosen = form.Which, form.Chosen
	}
	if has("active") {
		now.Active = form.Active
	}
	return now
}

// edit is what the form gives the webhook. A secret that was left empty in the form f stays what it is, unless its
// removal was asked for.
func (form *hookForm) edit(f page.Form) hook.Edit {
	e := hook.Edit{URL: web.Some(form.URL), ContentType: web.Some(form.Type), Insecure: web.Some(form.Insecure),
		Events: web.Some(form.events()), Active: web.Some(form.Active), Replace: true}
	switch secret := f.Get("secret"); {
	case secret != "":
		e.Secret = web.Some(secret)
	case form.HasSecret && !f.Checked("no_secret"):
		e.Replace = false
	}
	return e
}

// hookView is a webhook with its last deliveries, or the form of a new one.
type hookView struct {
	View
	hookForm
	Hook       *webhook // nil: a new one
	Deliveries []delivery
	Older      string // the address of more deliveries; empty: there are none
}

// GET /{owner}/{repo}/settings/hooks/new
// GET /orgs/{org}/settings/hooks/new
//
// NewHook shows the form of a webhook that is to be added. Errors: 401, 403.
func (p *Pages) NewHook(w http.ResponseWriter, r *http.Request, at *Owner) error {
	f, err := at.frame("Add webhook")
	if err != nil {
		return err
	}
	v := &hookView{View: f, hookForm: hookForm{Type: "json", Active: true, Which: "push",
		Chosen: []string{"push"}}}
	return p.t.Page(w, r, "hook.html", v)
}

// POST /{owner}/{repo}/settings/hooks/new
// POST /orgs/{org}/settings/hooks/new
//
// CreateHook adds a webhook. Errors: 401, 403.
func (p *Pages) CreateHook(w http.ResponseWriter, r *http.Request, at *Owner) error {
	if err := at.May(); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	form := readHook(f, false)
	ctx, o, err := at.Open(hook.Changing)
	if err == nil {
		_, err = p.kit.Hooks.Create(ctx, o, form.edit(f))
	}
	if err == nil {
		return page.Done(w, r, at.Settings+"/hooks", "The webhook was added.")
	}
	return page.RefuseWith(p.t, w, r, "hook.html", err, func(*http.Request) (*hookView, error) {
		frame, err := at.frame("Add webhook")
		return &hookView{View: frame, hookForm: form}, err
	}, nil)
}

// hookPath is the address of the request's webhook below that of its place.
func hookPath(r *http.Request) string { return "/hooks" + web.Path(web.Param(r, "hook_id")) }

// open is Open for the request's webhook. Errors: those of Open, 404.
func (at *Owner) open(
	r *http.Request, act hook.Act,
) (ctx context.Context, o hook.Owner, id int64, err error) {
	if ctx, o, err = at.Open(act); err == nil {
		id, err = o.HookID(r)
	}
	return ctx, o, id, err
}

// GET /{owner}/{repo}/settings/hooks/{hook_id}
// GET /orgs/{org}/settings/hooks/{hook_id}
//
// Hook shows a webhook and its last deliveries; cursor leads to older ones. Errors: 401, 403, 404.
func (p *Pages) Hook(w http.ResponseWriter, r *http.Request, at *Owner) error {
	v, err := p.hook(r, at)
	return p.t.Show(w, r, "hook.html", v, err)
}

func (p *Pages) hook(r *http.Request, at *Owner) (*hookView, error) {
	f, err := at.frame("Webhook")
	if err != nil {
		return nil, err
	}
	ctx, o, id, err := at.open(r, hook.Reading)
	if err != nil {
		return nil, err
	}
	h, err := p.kit.Hooks.Get(ctx, o, id)
	if err != nil {
		return nil, err
	}
	v := &hookView{View: f, hookForm: formOf(h), Hook: &webhook{h}}
	v.Shown = page.Shown(v.fields())
	v.Deliveries, v.Older, err = p.deliveries(ctx, r, o, id)
	return v, err
}

// POST /{owner}/{repo}/settings/hooks/{hook_id}
// POST /orgs/{org}/settings/hooks/{hook_id}
//
// ChangeHook changes the webhook, or as do says pings it, sends a test, or removes it. Errors: 401, 403, 404.
func (p *Pages) ChangeHook(w http.ResponseWriter, r *http.Request, at *Owner) error {
	if err := at.May(); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	to, done, err := p.changeHook(r, at, f)
	if err == nil {
		return page.Done(w, r, to, done)
	}
	return page.RefuseWith(p.t, w, r, "hook.html", err,
		func(r *http.Request) (*hookView, error) { return p.hook(r, at) },
		func(v *hookView) {
			if do := f.Get("do"); do != "ping" && do != "test" && do != "remove" {
				v.hookForm, v.Shown = readHook(f, v.HasSecret), f.Get("shown")
			}
		})
}

// changeHook does what the form f says. It returns the address of the page that shows the result, and what was done.
func (p *Pages) changeHook(r *http.Request, at *Owner, f page.Form) (to, done string, err error) {
	do, act := f.Get("do"), hook.Changing
	if do == "remove" {
		act = hook.Removing
	}
	ctx, o, id, err := at.open(r, act)
	if err != nil {
		return "", "", err
	}
	to = at.Settings + hookPath(r)
	switch {
	case do == "ping":
		return to, "A ping is sent.", p.kit.Hooks.Ping(ctx, o, id)
	case do == "test" && at.Test != nil:
		return to, "The last push is sent again.", at.Test(ctx, id)
	case do == "test":
		return "", "", errs.Absent()
	case do == "remove":
		return at.Settings + "/hooks", "The webhook was removed.", p.kit.Hooks.Remove(ctx, o, id)
	}
	now, err := p.kit.Hooks.Get(ctx, o, id)
	if err != nil {
		return "", "", err
	}
	typed, is := readHook(f, now.Secret != nil), formOf(now)
	changed, err := f.Edit(typed.fields(), is.fields())
	if err == nil {
		next := typed.onto(is, changed)
		_, err = p.kit.Hooks.Edit(ctx, o, id, next.edit(f))
	}
	return to, "The webhook was saved.", err
}

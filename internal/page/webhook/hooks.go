package webhook

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"arbor/internal/page"
	"arbor/internal/web"
)

// hook is a webhook as the API answers it.
type hook struct {
	ID     int64
	Active bool
	Events []string
	Config struct {
		URL         string
		ContentType string `json:"content_type"`
		Insecure    string `json:"insecure_ssl"`
		Secret      string // stars, if there is one
	}
	LastResponse struct {
		Code    int64
		Status  string
		Message string
	} `json:"last_response"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Failing reports that the last delivery did not arrive.
func (h *hook) Failing() bool {
	return h.LastResponse.Code >= 300 || h.LastResponse.Status == "disabled"
}

// Fine reports that the last delivery arrived.
func (h *hook) Fine() bool { return h.LastResponse.Code >= 200 && h.LastResponse.Code < 300 }

// offered are the events that the form offers, those that something here makes.
var offered = [][2]string{
	{"push", "Commits were pushed"}, {"pull_request", "Pull requests change"},
	{"pull_request_review", "Reviews"}, {"pull_request_review_comment", "Comments on lines of pull requests"},
	{"pull_request_review_thread", "Conversations on lines are resolved"},
	{"issues", "Issues change"}, {"issue_comment", "Comments on issues and pull requests"},
	{"create", "A branch or tag was made"}, {"delete", "A branch or tag was deleted"},
	{"commit_comment", "Comments on commits"}, {"status", "A status was set on a commit"},
	{"check_run", "Check runs"}, {"check_suite", "Check suites"}, {"release", "Releases"},
	{"label", "Labels change"}, {"milestone", "Milestones change"}, {"star", "Stars"},
	{"watch", "Somebody stars it"},
	{"fork", "Forks"}, {"member", "Collaborators change"}, {"public", "It became public"},
	{"repository", "The repository itself changes"}, {"deploy_key", "Deploy keys"},
	{"repository_dispatch", "Programs that send events by hand"},
}

// secretKept stands in the API for the secret that a hook has.
const secretKept = "********"

// hooksView is the list of webhooks.
type hooksView struct {
	View
	Hooks []hook
}

// GET /{owner}/{repo}/settings/hooks
// GET /orgs/{org}/settings/hooks
//
// Hooks lists the webhooks. Errors: 401, 403.
func (p *Pages) Hooks(w http.ResponseWriter, r *http.Request, at *Place) error {
	f, err := at.frame("Webhooks")
	if err != nil {
		return err
	}
	v := &hooksView{View: f}
	more, err := p.kit.Get(r, at.API+"/hooks", page.Part(r, 50), &v.Hooks)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
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
func formOf(h *hook) hookForm {
	f := hookForm{URL: h.Config.URL, Type: h.Config.ContentType, HasSecret: h.Config.Secret != "",
		Insecure: h.Config.Insecure == "1", Active: h.Active, Which: "some", Chosen: h.Events}
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

// body is what the API takes. A secret that was left empty in the form f stays what it is, unless its removal
// was asked for.
func (form *hookForm) body(f page.Form) map[string]any {
	config := map[string]any{"url": form.URL, "content_type": form.Type, "insecure_ssl": "0"}
	if form.Insecure {
		config["insecure_ssl"] = "1"
	}
	switch secret := f.Get("secret"); {
	case secret != "":
		config["secret"] = secret
	case form.HasSecret && !f.Checked("no_secret"):
		config["secret"] = secretKept
	}
	return map[string]any{"config": config, "events": form.events(), "active": form.Active}
}

// hookView is a webhook with its last deliveries, or the form of a new one.
type hookView struct {
	View
	hookForm
	Hook       *hook // nil: a new one
	Deliveries []delivery
	Older      string // the address of more deliveries; empty: there are none
}

// GET /{owner}/{repo}/settings/hooks/new
// GET /orgs/{org}/settings/hooks/new
//
// NewHook shows the form of a webhook that is to be added. Errors: 401, 403.
func (p *Pages) NewHook(w http.ResponseWriter, r *http.Request, at *Place) error {
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
func (p *Pages) CreateHook(w http.ResponseWriter, r *http.Request, at *Place) error {
	if err := at.May(); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	form := readHook(f, false)
	body := form.body(f)
	body["name"] = "web" // organizations want it said
	err = p.kit.Change(r, "POST", at.API+"/hooks", body, nil)
	if err == nil {
		return page.Done(w, r, at.Settings+"/hooks", "The webhook was added.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	frame, err := at.frame("Add webhook")
	if err != nil {
		return err
	}
	frame.Problem = problem
	return p.t.Again(w, r, "hook.html", problem, &hookView{View: frame, hookForm: form})
}

// hookPath is the address of the request's webhook in the API.
func hookPath(r *http.Request, at *Place) string {
	return at.API + "/hooks" + web.Path(web.Param(r, "hook_id"))
}

// GET /{owner}/{repo}/settings/hooks/{hook_id}
// GET /orgs/{org}/settings/hooks/{hook_id}
//
// Hook shows a webhook and its last deliveries; cursor leads to older ones. Errors: 401, 403, 404.
func (p *Pages) Hook(w http.ResponseWriter, r *http.Request, at *Place) error {
	v, err := p.hook(r, at)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "hook.html", v)
}

func (p *Pages) hook(r *http.Request, at *Place) (*hookView, error) {
	v := &hookView{Hook: &hook{}}
	var err error
	if v.View, err = at.frame("Webhook"); err != nil {
		return nil, err
	}
	if _, err := p.kit.Get(r, hookPath(r, at), nil, v.Hook); err != nil {
		return nil, page.Absent(err)
	}
	v.hookForm = formOf(v.Hook)
	v.Shown = page.Shown(v.fields())
	v.Deliveries, v.Older, err = p.deliveries(r, at)
	return v, err
}

// POST /{owner}/{repo}/settings/hooks/{hook_id}
// POST /orgs/{org}/settings/hooks/{hook_id}
//
// ChangeHook changes the webhook, or as do says pings it, sends a test, or removes it. Errors: 401, 403, 404.
func (p *Pages) ChangeHook(w http.ResponseWriter, r *http.Request, at *Place) error {
	if err := at.May(); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	self, to := hookPath(r, at), at.Settings+"/hooks"+web.Path(web.Param(r, "hook_id"))
	done := "The webhook was saved."
	var form *hookForm
	switch f.Get("do") {
	case "ping":
		done = "A ping is sent."
		err = p.kit.Change(r, "POST", self+"/pings", nil, nil)
	case "test":
		done = "The last push is sent again."
		err = p.kit.Change(r, "POST", self+"/tests", nil, nil)
	case "remove":
		to, done = at.Settings+"/hooks", "The webhook was removed."
		err = p.kit.Change(r, "DELETE", self, nil, nil)
	default:
		var now hook
		if _, err := p.kit.Get(r, self, nil, &now); err != nil {
			return page.Absent(err)
		}
		typed, is := readHook(f, now.Config.Secret != ""), formOf(&now)
		form = &typed
		var changed map[string]json.RawMessage
		if changed, err = f.Edit(typed.fields(), is.fields()); err == nil {
			next := typed.onto(is, changed)
			err = p.kit.Change(r, "PATCH", self, next.body(f), nil)
		}
	}
	if err == nil {
		return page.Done(w, r, to, done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.hook(r, at)
	if err != nil {
		return err
	}
	if v.Problem = problem; form != nil {
		v.hookForm, v.Shown = *form, f.Get("shown")
	}
	return p.t.Again(w, r, "hook.html", problem, v)
}

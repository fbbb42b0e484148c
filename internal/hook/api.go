package hook

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the requests about hooks.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// owned is a handler of what is the same for repositories and organizations.
// path is the address of the one or the other.
type owned func(w http.ResponseWriter, r *http.Request, o Owner, path string) error

// onRepo returns a handler of a repository's hooks.
func (api *API) onRepo(h owned) repo.Handler {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		return h(w, r, OfRepository(a), web.Path("repos", a.Owner.Login, a.Name))
	}
}

// onOrg returns a handler of an organization's hooks, for its owners. Errors: 403, 404.
func (api *API) onOrg(h owned) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		login := web.Param(r, "org")
		o, err := api.s.OfOrg(r.Context(), account.CallerFrom(r.Context()), login)
		if err != nil {
			return err
		}
		return h(w, r, o, web.Path("orgs", login))
	}
}

// onApp returns a handler of an App's hook, for the App that signed the request.
func (api *API) onApp(h owned) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		o, err := api.s.ofApp(r.Context(), account.CallerFrom(r.Context()))
		if err != nil {
			return err
		}
		return h(w, r, o, "/app")
	}
}

// HookID is the hook that {hook_id} in a request's address names; an App has only the one. Error: 404.
func (o *Owner) HookID(r *http.Request) (int64, error) {
	if o.app != 0 {
		return o.hook, nil
	}
	return web.Number(r, "hook_id")
}

// GET /repos/{owner}/{repo}/hooks
// GET /orgs/{org}/hooks
//
// ListHooks answers a page of the hooks, the oldest first.
func (api *API) ListHooks(w http.ResponseWriter, r *http.Request, o Owner, path string) error {
	found, err := api.s.List(r.Context(), o)
	if err != nil {
		return err
	}
	out := []*Payload{}
	for _, h := range web.Cut(w, r, found) {
		out = append(out, newPayload(r, h, path))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

func newPayload(r *http.Request, h *Hook, path string) *Payload {
	return NewPayload(h, web.From(r.Context()), path)
}

// POST /repos/{owner}/{repo}/hooks
// POST /orgs/{org}/hooks
//
// CreateHook adds a hook. Errors: 422.
func (api *API) CreateHook(w http.ResponseWriter, r *http.Request, o Owner, path string) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	readName(body)
	if o.org != 0 {
		body.Require("name")
	}
	c := Edit{Active: body.Bool("active"), Events: readEvents(body, "events")}
	body.Require("config")
	if err := api.readNested(r, body, &c); err != nil {
		return err
	}
	if !c.URL.Given() || c.URL.Value == "" {
		body.Wrong("config.url", errs.MissingField, "")
	}
	if err := body.Err(); err != nil {
		return err
	}
	made, err := api.s.Create(r.Context(), o, c)
	if err != nil {
		return err
	}
	payload := newPayload(r, made, path)
	return web.Created(w, r, payload.URL, payload)
}

// readName reads the name, which is web of all hooks.
func readName(body *web.Object) {
	if name := body.String("name", 0); name.Given() && name.Value != "web" {
		body.Wrong("name", errs.InvalidField, `"name" must be web`)
	}
}

// readNested reads the field config of a body. Errors: 422.
func (api *API) readNested(r *http.Request, body *web.Object, c *Edit) error {
	raw := body.Raw("config")
	if raw == nil || string(raw) == "null" {
		return nil
	}
	if raw[0] != '{' {
		body.Wrong("config", errs.InvalidField, `"config" must be an object`)
		return nil
	}
	nested, err := web.ParseObject(raw, Resource)
	if err != nil {
		return err
	}
	c.Replace = true
	api.s.readConfig(nested, c, "config.")
	return nested.Err()
}

// GET /repos/{owner}/{repo}/hooks/{hook_id}
// GET /orgs/{org}/hooks/{hook_id}
//
// GetHook answers a hook. Error: 404.
func (api *API) GetHook(w http.ResponseWriter, r *http.Request, o Owner, path string) error {
	h, err := api.find(r, o)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(r, h, path))
}

// find reads the hook that {hook_id} names. Error: 404.
func (api *API) find(r *http.Request, o Owner) (*Hook, error) {
	id, err := o.HookID(r)
	if err != nil {
		return nil, err
	}
	return api.s.Get(r.Context(), o, id)
}

// PATCH /repos/{owner}/{repo}/hooks/{hook_id}
// PATCH /orgs/{org}/hooks/{hook_id}
//
// EditHook changes a hook. Errors: 404, 422.
func (api *API) EditHook(w http.ResponseWriter, r *http.Request, o Owner, path string) error {
	h, err := api.find(r, o)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	readName(body)
	c := Edit{Active: body.Bool("active"), Events: readEvents(body, "events"),
		Add: readEvents(body, "add_events").Value, Remove: readEvents(body, "remove_events").Value}
	if err := api.readNested(r, body, &c); err != nil {
		return err
	}
	if c.URL.Set && c.URL.Value == "" {
		body.Wrong("config.url", errs.MissingField, "")
	}
	if err := body.Err(); err != nil {
		return err
	}
	if h, err = api.s.Edit(r.Context(), o, h.ID, c); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(r, h, path))
}

// DELETE /repos/{owner}/{repo}/hooks/{hook_id}
// DELETE /orgs/{org}/hooks/{hook_id}
//
// DeleteHook removes a hook. Error: 404.
func (api *API) DeleteHook(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	id, err := o.HookID(r)
	if err == nil {
		err = api.s.Remove(r.Context(), o, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/hooks/{hook_id}/config
// GET /orgs/{org}/hooks/{hook_id}/config
// GET /app/hook/config
//
// GetConfig answers the configuration of a hook. Error: 404.
func (api *API) GetConfig(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	h, err := api.find(r, o)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newConfig(h))
}

// PATCH /repos/{owner}/{repo}/hooks/{hook_id}/config
// PATCH /orgs/{org}/hooks/{hook_id}/config
// PATCH /app/hook/config
//
// EditConfig changes what is given of the configuration of a hook. Errors: 404, 422.
func (api *API) EditConfig(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	h, err := api.find(r, o)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	var c Edit
	api.s.readConfig(body, &c, "")
	if c.URL.Set && c.URL.Value == "" {
		body.Wrong("url", errs.MissingField, "")
	}
	if err := body.Err(); err != nil {
		return err
	}
	if h, err = api.s.Edit(r.Context(), o, h.ID, c); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newConfig(h))
}

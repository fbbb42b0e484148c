package mirror

import (
	"net/http"
	"strconv"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of mirrors.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// payload is a mirror. Its password is never shown.
type payload struct {
	ID         int64   `json:"id"`
	URL        string  `json:"remote_url"`
	Username   *string `json:"username"`
	Active     bool    `json:"active"`
	Failures   int64   `json:"failures"`
	LastError  *string `json:"last_error"`
	CreatedAt  db.Time `json:"created_at"`
	LastRunAt  db.Time `json:"last_run_at"`
	LastSyncAt db.Time `json:"last_sync_at"`
	PublicKey  *string `json:"public_key"`
	HostKey    *string `json:"host_key"`
	Offered    *string `json:"offered_host_key"`
	*pullPayload
}

// pullPayload is what only a pull mirror has.
type pullPayload struct {
	Interval   int64 `json:"interval"` // seconds
	FollowHead bool  `json:"follow_default_branch"`
	Once       bool  `json:"once"`
	HasSecret  bool  `json:"has_webhook_secret"`
}

func newPayload(m *Mirror) *payload {
	p := &payload{ID: m.ID, URL: m.URL, Active: m.Active, Failures: m.Failures, CreatedAt: m.CreatedAt,
		LastRunAt: m.EndedAt, LastSyncAt: m.Succeeded}
	p.Username, p.LastError = orNull(m.Username), orNull(m.Problem)
	if m.SSH != nil {
		p.PublicKey, p.HostKey, p.Offered = orNull(m.SSH.PublicKey), orNull(m.SSH.HostKey), orNull(m.SSH.Offered)
	}
	if !m.Push {
		p.pullPayload = &pullPayload{int64(m.Every / time.Second), m.FollowHead, m.Once, m.HasSecret}
	}
	return p
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// read reads what is common to both kinds.
func read(body *web.Object) Edit {
	body.Require("remote_url")
	return Edit{URL: body.String("remote_url", maxURL).Value, Username: body.String("username", maxUsername).Or(""),
		Password: body.String("password", maxPassword)}
}

// GET /repos/{owner}/{repo}/mirror
//
// Get answers what the repository is a mirror of, or null.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	m, err := api.s.Get(r.Context(), a)
	if errs.Is(err, errs.NotFound) {
		return web.JSON(w, r, http.StatusOK, nil)
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(m))
}

// PUT /repos/{owner}/{repo}/mirror
//
// Set makes the repository a mirror, or changes it. Errors: 410, 422.
func (api *API) Set(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	e := read(body)
	seconds := body.Int("interval").Or(0)
	e.Every = time.Duration(min(max(seconds, -1), int64(2*maxEvery/time.Second))) * time.Second
	e.FollowHead, e.Once = body.Bool("follow_default_branch").Or(true), body.Bool("once").Or(false)
	if err := body.Err(); err != nil {
		return err
	}
	m, made, err := api.s.Set(r.Context(), a, e)
	if err != nil {
		return err
	}
	if made {
		return web.Created(w, r, web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name, "mirror")), newPayload(m))
	}
	return web.JSON(w, r, http.StatusOK, newPayload(m))
}

// DELETE /repos/{owner}/{repo}/mirror
//
// Remove makes the mirror an ordinary repository. Error: 404.
func (api *API) Remove(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Remove(r.Context(), a); err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /repos/{owner}/{repo}/mirror-sync
//
// Sync schedules a run of the mirror. Errors: 404, 422.
func (api *API) Sync(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Ask(r.Context(), a, false); err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /repos/{owner}/{repo}/mirror-hook
//
// Hook schedules a run of a mirror, when a webhook of its source calls it with the secret. It needs no token.
// Errors: 403, 404, 422.
func (api *API) Hook(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	if err := api.s.Hooked(r.Context(), web.Param(r, "owner"), web.Param(r, "repo"), r.Header, body); err != nil {
		return err
	}
	return web.NoContent(w)
}

// secretPayload is a secret, which is shown once.
type secretPayload struct {
	Secret  string `json:"secret"`
	HookURL string `json:"hook_url"`
}

// POST /repos/{owner}/{repo}/mirror/secret
//
// CreateSecret makes the secret of the webhook of the mirror's source, in place of a former one. Error: 404.
func (api *API) CreateSecret(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	secret, err := api.s.NewSecret(r.Context(), a)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusCreated, secretPayload{secret, HookURL(r, a)})
}

// HookURL is the address to which the webhook of a mirror's source sends.
func HookURL(r *http.Request, a *repo.Access) string {
	return web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name, "mirror-hook"))
}

// DELETE /repos/{owner}/{repo}/mirror/secret
//
// RemoveSecret ends the secret. Error: 404.
func (api *API) RemoveSecret(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.RemoveSecret(r.Context(), a); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/push_mirrors
//
// ListPush lists all push mirrors of the repository.
func (api *API) ListPush(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	list, err := api.s.ListPush(r.Context(), a)
	if err != nil {
		return err
	}
	out := make([]*payload, len(list))
	for n, m := range list {
		out[n] = newPayload(m)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// POST /repos/{owner}/{repo}/push_mirrors
//
// AddPush adds a push mirror. Errors: 410, 422.
func (api *API) AddPush(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	e := read(body)
	if err := body.Err(); err != nil {
		return err
	}
	m, err := api.s.AddPush(r.Context(), a, e)
	if err != nil {
		return err
	}
	at := web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name, "push_mirrors", strconv.FormatInt(m.ID, 10)))
	return web.Created(w, r, at, newPayload(m))
}

// GET /repos/{owner}/{repo}/push_mirrors/{mirror_id}
//
// GetPush answers a push mirror. Error: 404.
func (api *API) GetPush(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "mirror_id")
	if err != nil {
		return err
	}
	m, err := api.s.GetPush(r.Context(), a, id)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(m))
}

// DELETE /repos/{owner}/{repo}/push_mirrors/{mirror_id}
//
// RemovePush removes a push mirror. What was copied stays at its target. Error: 404.
func (api *API) RemovePush(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "mirror_id")
	if err == nil {
		err = api.s.RemovePush(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /repos/{owner}/{repo}/mirror/host-key
//
// AcceptHostKey sets the key by which the source is known. Errors: 404, 422.
func (api *API) AcceptHostKey(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.acceptHostKey(w, r, a, 0)
}

// PUT /repos/{owner}/{repo}/push_mirrors/{mirror_id}/host-key
//
// AcceptPushHostKey sets the key by which the target is known. Errors: 404, 422.
func (api *API) AcceptPushHostKey(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "mirror_id")
	if err != nil {
		return err
	}
	return api.acceptHostKey(w, r, a, id)
}

func (api *API) acceptHostKey(w http.ResponseWriter, r *http.Request, a *repo.Access, push int64) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("fingerprint")
	print := body.String("fingerprint", maxUsername).Value
	if err := body.Err(); err != nil {
		return err
	}
	m, err := api.s.AcceptHostKey(r.Context(), a, push, print)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(m))
}

// POST /repos/{owner}/{repo}/push_mirrors-sync
//
// SyncPush schedules a run of all push mirrors of the repository. Errors: 404, 422.
func (api *API) SyncPush(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Ask(r.Context(), a, true); err != nil {
		return err
	}
	return web.NoContent(w)
}

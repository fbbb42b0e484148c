package hook

import (
	"net/http"
	"strconv"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/hooks/{hook_id}/pings
// POST /orgs/{org}/hooks/{hook_id}/pings
//
// Ping sends a ping to the hook's receiver, even if the hook is not active. Errors: 404, 409 if
// too many deliveries wait.
func (api *API) Ping(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	id, err := o.HookID(r)
	if err == nil {
		err = api.s.Ping(r.Context(), o, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /repos/{owner}/{repo}/hooks/{hook_id}/tests
//
// Test sends the newest commit of the default branch as if it had just been pushed. Errors: those of Service.Test.
func (api *API) Test(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "hook_id")
	if err == nil {
		err = api.s.Test(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries
// GET /orgs/{org}/hooks/{hook_id}/deliveries
// GET /app/hook/deliveries
//
// ListDeliveries answers a page of what was delivered, or tried to be, the newest first. The Link header has
// the cursor of the next page; status chooses success or failure. Errors: 404, 422.
func (api *API) ListDeliveries(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	id, err := o.HookID(r)
	if err != nil {
		return err
	}
	c := Choice{Size: web.ReadPageSize(r)}
	if c.Before, err = ParseCursor(web.QueryOf(r).Get("cursor")); err != nil {
		return err
	}
	if c.Outcome, err = web.QueryEnum(r, Resource, "status", anyOutcome, success, failure); err != nil {
		return err
	}
	h, found, more, err := api.s.Deliveries(r.Context(), o, id, c)
	if err != nil {
		return err
	}
	if more {
		web.LinkCursor(w, r, strconv.FormatInt(found[len(found)-1].ID, 10))
	}
	out := make([]item, len(found))
	for n, d := range found {
		out[n] = newItem(h, d)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}
// GET /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}
// GET /app/hook/deliveries/{delivery_id}
//
// GetDelivery answers a delivery with what was sent and the beginning of what came back. Errors: those of
// Service.Delivery.
func (api *API) GetDelivery(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	id, of, err := deliveryOf(r, o)
	if err != nil {
		return err
	}
	h, d, err := api.s.Delivery(r.Context(), o, id, of)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newFull(h, d))
}

// deliveryOf reads which hook and which delivery a request names. Error: 404.
func deliveryOf(r *http.Request, o Owner) (hook, delivery int64, err error) {
	if hook, err = o.HookID(r); err == nil {
		delivery, err = web.Number(r, "delivery_id")
	}
	return hook, delivery, err
}

// POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts
// POST /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}/attempts
// POST /app/hook/deliveries/{delivery_id}/attempts
//
// Redeliver sends a delivery once more. Errors: those of Service.Redeliver.
func (api *API) Redeliver(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	id, of, err := deliveryOf(r, o)
	if err == nil {
		err = api.s.Redeliver(r.Context(), o, id, of)
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusAccepted, struct{}{})
}

package hook

import (
	"math"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/hooks/{hook_id}/pings
// POST /orgs/{org}/hooks/{hook_id}/pings
//
// Ping sends a ping to the hook's receiver, also if the hook is not active. Errors: 404, 409 where many wait.
func (api *API) Ping(w http.ResponseWriter, r *http.Request, o owner, _ string) error {
	id, err := o.hookID(r)
	if err != nil {
		return err
	}
	_, err = api.s.change(r.Context(), o, id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		if err := note(tx, entry, audit.HookPing, h); err != nil {
			return err
		}
		return addOne(tx, h, Event{Name: Ping, Actor: account.IDOf(o.caller)})
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /repos/{owner}/{repo}/hooks/{hook_id}/tests
//
// Test sends the newest commit of the default branch as if it had just been pushed, if the hook subscribes to
// pushes and the branch has a commit. Errors: 404, 409 if many deliveries wait.
func (api *API) Test(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	o := ofRepository(a)
	id, err := o.hookID(r)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + a.DefaultBranch
	tip, err := api.s.repos.Ref(r.Context(), a, ref)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	_, err = api.s.change(r.Context(), o, id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		if err := note(tx, entry, audit.HookTest, h); err != nil {
			return err
		}
		if tip == "" || !h.wants("push") {
			return nil
		}
		about := About{Ref: ref, After: string(tip)}
		return addOne(tx, h, Event{Name: "push", Actor: account.IDOf(o.caller), About: about})
	})
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
func (api *API) ListDeliveries(w http.ResponseWriter, r *http.Request, o owner, _ string) error {
	id, err := o.hookID(r)
	if err != nil {
		return err
	}
	size := web.ReadPageSize(r)
	before := int64(math.MaxInt64)
	if cursor := web.QueryOf(r).Get("cursor"); cursor != "" {
		n, ok := web.ParseNumber(cursor)
		if !ok {
			return errs.Validation(errs.Field{Resource: Resource, Field: "cursor", Code: errs.InvalidField,
				Message: "cursor must be one of the Link header"})
		}
		before = n
	}
	outcome, err := web.QueryEnum(r, Resource, "status", anyOutcome, success, failure)
	if err != nil {
		return err
	}
	var h *Hook
	var found []*Delivery
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if h, err = byID(tx, o.place, id); err != nil {
			return err
		}
		found, err = tried(tx, id, before, outcome, size+1)
		return err
	})
	if err != nil {
		return err
	}
	if int64(len(found)) > size {
		found = found[:size]
		web.LinkCursor(w, r, strconv.FormatInt(found[size-1].ID, 10))
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
// GetDelivery answers a delivery with what was sent and the beginning of what came back. An App that does not
// reach the repository any more is not shown what was sent: it may not have arrived. Errors: 404.
func (api *API) GetDelivery(w http.ResponseWriter, r *http.Request, o owner, _ string) error {
	var h *Hook
	var d *Delivery
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if h, d, err = findDelivery(tx, r, o); err != nil || h.AppID == 0 || d.RepoID == 0 {
			return err
		}
		shown, err := stillReached(tx, d)
		if !shown {
			d.Payload = nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newFull(h, d))
}

// findDelivery reads the delivery of a request. Error: 404.
func findDelivery(tx *db.Tx, r *http.Request, o owner) (*Hook, *Delivery, error) {
	id, err := o.hookID(r)
	if err != nil {
		return nil, nil, err
	}
	of, err := web.Number(r, "delivery_id")
	if err != nil {
		return nil, nil, err
	}
	h, err := byID(tx, o.place, id)
	if err != nil {
		return nil, nil, err
	}
	d, err := deliveryByID(tx, id, of)
	return h, d, err
}

// POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts
// POST /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}/attempts
// POST /app/hook/deliveries/{delivery_id}/attempts
//
// Redeliver sends a delivery once more, with the same body and GUID, to where the hook leads now. Errors:
// 404, 409 where many wait.
func (api *API) Redeliver(w http.ResponseWriter, r *http.Request, o owner, _ string) error {
	err := api.s.db.Write(r.Context(), func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		h, d, err := findDelivery(tx, r, o)
		if err != nil {
			return err
		}
		if err := note(tx, entry, audit.HookRedeliver, h); err != nil {
			return err
		}
		return again(tx, d)
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusAccepted, struct{}{})
}

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/hook"
	"arbor/internal/page"
	"arbor/internal/web"
)

// delivery is one attempt to tell a receiver of something.
type delivery struct {
	*hook.Delivery
	Hook *hook.Hook
}

// GUID is the id by which the receiver knows it.
func (d delivery) GUID() string { return d.Hook.GUID(d.Delivery) }

// Redelivery reports that it was sent again.
func (d delivery) Redelivery() bool { return d.Origin != 0 }

// At is when it was tried.
func (d delivery) At() time.Time { return page.Moment(d.DeliveredAt) }

// Fine reports that it arrived.
func (d delivery) Fine() bool { return d.Code >= 200 && d.Code < 300 }

// Took is how long it took, in words.
func (d delivery) Took() string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s" }

// SentLines and ReceivedLines are the headers of the request and of the answer in the order of their names.
func (d delivery) SentLines() [][2]string     { return lines(d.Sent) }
func (d delivery) ReceivedLines() [][2]string { return lines(d.Received) }

// Question is the body of the request, indented.
func (d delivery) Question() page.Clipped {
	var b bytes.Buffer
	if len(d.Payload) <= 4*maxShown && json.Indent(&b, d.Payload, "", "  ") == nil {
		return page.Clip(b.String(), maxShown)
	}
	return page.Clip(string(d.Payload), maxShown)
}

// AnswerText is the beginning of the body that came back.
func (d delivery) AnswerText() page.Clipped { return page.Clip(d.Answer(), maxShown) }

// lines reads stored headers.
func lines(stored string) (list [][2]string) {
	var headers map[string]any
	if json.Unmarshal([]byte(stored), &headers) != nil {
		return nil // the attempt failed before there were any
	}
	for name, value := range headers {
		text, is := value.(string)
		if !is {
			b, _ := json.Marshal(value)
			text = string(b)
		}
		list = append(list, [2]string{name, text})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// maxShown is how many bytes of a body the page shows. The API has all of it.
const maxShown = 64 << 10

const deliveriesSize = 25

// deliveries lists a page of the deliveries of a webhook; older is the address of more.
func (p *Pages) deliveries(
	ctx context.Context, r *http.Request, o hook.Owner, id int64,
) (list []delivery, older string, err error) {
	c := hook.Choice{Size: deliveriesSize}
	if c.Before, err = hook.ParseCursor(web.QueryOf(r).Get("cursor")); err != nil {
		return nil, "", page.Absent(err)
	}
	h, found, more, err := p.kit.Hooks.Deliveries(ctx, o, id, c)
	if err != nil {
		return nil, "", err
	}
	for _, d := range found {
		list = append(list, delivery{d, h})
	}
	if more {
		older = "?cursor=" + strconv.FormatInt(found[len(found)-1].ID, 10)
	}
	return list, older, nil
}

// deliveryView is one delivery, whole.
type deliveryView struct {
	View
	delivery
	HookPath string // of the webhook's page
	API      string // where the whole of it is
}

// pageOf is the address of the page of the request's webhook.
func pageOf(r *http.Request, at *Owner) string {
	if at.App {
		return at.Settings + "/advanced"
	}
	return at.Settings + hookPath(r)
}

// recentView is the deliveries of an App's hook.
type recentView struct {
	View
	Deliveries []delivery
	Older      string // the address of more; empty: there are none
}

// GET /settings/apps/{app_slug}/advanced
//
// Recent lists the last deliveries of an App's hook; cursor leads to older ones. Error: 404.
func (p *Pages) Recent(w http.ResponseWriter, r *http.Request, at *Owner) (err error) {
	v := &recentView{}
	if v.View, err = at.frame("Deliveries"); err != nil {
		return err
	}
	ctx, o, id, err := at.open(r, hook.Reading)
	if err != nil {
		return err
	}
	v.Deliveries, v.Older, err = p.deliveries(ctx, r, o, id)
	return p.t.Show(w, r, "recent.html", v, err)
}

// deliveryPath is the address of the request's delivery in the API.
func deliveryPath(r *http.Request, at *Owner) string {
	self := at.API
	if !at.App {
		self += hookPath(r)
	}
	return self + "/deliveries" + web.Path(web.Param(r, "delivery_id"))
}

// deliveryOf opens the request's webhook for an act on a delivery. Errors: those of open, 404.
func (at *Owner) deliveryOf(
	r *http.Request, act hook.Act,
) (ctx context.Context, o hook.Owner, id, of int64, err error) {
	if ctx, o, id, err = at.open(r, act); err == nil {
		of, err = web.Number(r, "delivery_id")
	}
	return ctx, o, id, of, err
}

// GET /{owner}/{repo}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// GET /orgs/{org}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// GET /settings/apps/{app_slug}/deliveries/{delivery_id}
//
// Delivery shows what was sent and what came back. Errors: 401, 403, 404.
func (p *Pages) Delivery(w http.ResponseWriter, r *http.Request, at *Owner) error {
	f, err := at.frame("Delivery")
	if err != nil {
		return err
	}
	ctx, o, id, of, err := at.deliveryOf(r, hook.Reading)
	if err != nil {
		return err
	}
	v := &deliveryView{View: f, HookPath: pageOf(r, at), API: deliveryPath(r, at)}
	v.Hook, v.Delivery, err = p.kit.Hooks.Delivery(ctx, o, id, of)
	return p.t.Show(w, r, "delivery.html", v, err)
}

// POST /{owner}/{repo}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// POST /orgs/{org}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// POST /settings/apps/{app_slug}/deliveries/{delivery_id}
//
// Redeliver sends the delivery once more. Errors: 401, 403, 404, 409 if too many deliveries wait.
func (p *Pages) Redeliver(w http.ResponseWriter, r *http.Request, at *Owner) error {
	if err := at.May(); err != nil {
		return err
	}
	ctx, o, id, of, err := at.deliveryOf(r, hook.Changing)
	if err == nil {
		err = p.kit.Hooks.Redeliver(ctx, o, id, of)
	}
	if err != nil {
		return err
	}
	return page.Done(w, r, pageOf(r, at), "The delivery is sent again.")
}

package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/web"
)

// delivery is one attempt to tell a receiver of something.
type delivery struct {
	ID          int64
	GUID        string
	DeliveredAt time.Time `json:"delivered_at"`
	Redelivery  bool
	Duration    float64 // seconds
	Status      string
	StatusCode  int `json:"status_code"`
	Event       string
	Action      string
	URL         string
	Request     message
	Response    message
}

// Fine reports that it arrived.
func (d *delivery) Fine() bool { return d.StatusCode >= 200 && d.StatusCode < 300 }

// Took is how long it took, in words.
func (d *delivery) Took() string { return strconv.FormatFloat(d.Duration, 'f', 2, 64) + " s" }

// message is a request or an answer.
type message struct {
	Headers map[string]any
	Payload json.RawMessage
}

// Lines are the headers in the order of their names.
func (m *message) Lines() (list [][2]string) {
	for name, value := range m.Headers {
		text, is := value.(string)
		if !is {
			b, _ := json.Marshal(value)
			text = string(b)
		}
		list = append(list, [2]string{name, text})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return bytes.Compare([]byte(a[0]), []byte(b[0])) })
	return list
}

// maxShown is how many bytes of a body the page shows. The API has all of it.
const maxShown = 64 << 10

// Text is the body, indented if it is JSON.
func (m *message) Text() page.Clipped {
	var text string
	if json.Unmarshal(m.Payload, &text) != nil {
		var b bytes.Buffer
		if len(m.Payload) <= 4*maxShown && json.Indent(&b, m.Payload, "", "  ") == nil {
			text = b.String()
		} else {
			text = string(m.Payload)
		}
	}
	return page.Clip(text, maxShown)
}

const deliveriesSize = 25

var nextCursor = regexp.MustCompile(`[?&]cursor=([0-9]+)[^>]*>; rel="next"`)

// deliveries lists a page of the deliveries of the request's webhook.
func (p *Pages) deliveries(r *http.Request, at *Place) (list []delivery, older string, err error) {
	var answer *web.Captured
	if at.App != nil {
		answer, err = p.kit.Answer(r, at.App.List)
	} else {
		answer, err = p.kit.Send(r, inside.Request{Path: hookPath(r, at) + "/deliveries",
			Query: page.Query("per_page", strconv.Itoa(deliveriesSize), "cursor",
				web.QueryOf(r).Get("cursor"))})
	}
	if err != nil {
		return nil, "", page.Absent(err)
	}
	if m := nextCursor.FindStringSubmatch(answer.Header().Get("Link")); m != nil {
		older = "?cursor=" + url.QueryEscape(m[1])
	}
	return list, older, json.Unmarshal(answer.Body.Bytes(), &list)
}

// deliveryView is one delivery, whole.
type deliveryView struct {
	View
	delivery
	HookPath string // of the webhook's page
	API      string // where the whole of it is
}

// pageOf is the address of the page of the request's webhook.
func pageOf(r *http.Request, at *Place) string {
	if at.App != nil {
		return at.Settings + "/advanced"
	}
	return at.Settings + "/hooks" + web.Path(web.Param(r, "hook_id"))
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
func (p *Pages) Recent(w http.ResponseWriter, r *http.Request, at *Place) (err error) {
	v := &recentView{}
	if v.View, err = at.frame("Deliveries"); err != nil {
		return err
	}
	if v.Deliveries, v.Older, err = p.deliveries(r, at); err != nil {
		return err
	}
	return p.t.Page(w, r, "recent.html", v)
}

func deliveryPath(r *http.Request, at *Place) string {
	self := at.API // an App's hook
	if at.App == nil {
		self = hookPath(r, at)
	}
	return self + "/deliveries" + web.Path(web.Param(r, "delivery_id"))
}

// GET /{owner}/{repo}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// GET /orgs/{org}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// GET /settings/apps/{app_slug}/deliveries/{delivery_id}
//
// Delivery shows what was sent and what came back. Errors: 401, 403, 404.
func (p *Pages) Delivery(w http.ResponseWriter, r *http.Request, at *Place) error {
	f, err := at.frame("Delivery")
	if err != nil {
		return err
	}
	v := &deliveryView{View: f, HookPath: pageOf(r, at), API: deliveryPath(r, at)}
	var answer *web.Captured
	if at.App != nil {
		answer, err = p.kit.Answer(r, at.App.Get)
	} else {
		answer, err = p.kit.Send(r, inside.Request{Path: v.API})
	}
	if err != nil {
		return page.Absent(err)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &v.delivery); err != nil {
		return err
	}
	return p.t.Page(w, r, "delivery.html", v)
}

// POST /{owner}/{repo}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// POST /orgs/{org}/settings/hooks/{hook_id}/deliveries/{delivery_id}
// POST /settings/apps/{app_slug}/deliveries/{delivery_id}
//
// Redeliver sends the delivery once more. Errors: 401, 403, 404, 409 where many wait.
func (p *Pages) Redeliver(w http.ResponseWriter, r *http.Request, at *Place) error {
	if err := at.May(); err != nil {
		return err
	}
	var err error
	if at.App != nil {
		_, err = p.kit.Answer(r, at.App.Redeliver)
	} else {
		err = p.kit.Change(r, "POST", deliveryPath(r, at)+"/attempts", nil, nil)
	}
	if err != nil {
		return err
	}
	return page.Done(w, r, pageOf(r, at), "The delivery is sent again.")
}

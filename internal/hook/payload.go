package hook

import (
	"encoding/json"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// Payload is GitHub's hook.
type Payload struct {
	Type          string        `json:"type"`
	ID            int64         `json:"id"`
	Name          string        `json:"name"`
	Active        bool          `json:"active"`
	Events        []string      `json:"events"`
	Config        config        `json:"config"`
	UpdatedAt     db.Time       `json:"updated_at"`
	CreatedAt     db.Time       `json:"created_at"`
	URL           string        `json:"url"`
	TestURL       string        `json:"test_url,omitempty"` // of a repository's
	PingURL       string        `json:"ping_url"`
	DeliveriesURL string        `json:"deliveries_url"`
	LastResponse  *lastResponse `json:"last_response,omitempty"` // of a repository's
}

// config is GitHub's webhook-config.
type config struct {
	ContentType string `json:"content_type"`
	Insecure    string `json:"insecure_ssl"`
	Secret      string `json:"secret,omitempty"`
	URL         string `json:"url"`
}

type lastResponse struct {
	Code    *int64  `json:"code"`
	Status  string  `json:"status"`
	Message *string `json:"message"`
}

func newConfig(h *Hook) config {
	c := config{ContentType: h.ContentType(), Insecure: "0", URL: h.URL}
	if h.Insecure {
		c.Insecure = "1"
	}
	if h.Secret != nil {
		c.Secret = hidden
	}
	return c
}

// NewPayload renders a hook; path is the address of its repository or organization.
func NewPayload(h *Hook, i *web.Info, path string) *Payload {
	self := i.API(path + "/hooks/" + strconv.FormatInt(h.ID, 10))
	p := &Payload{Type: "Organization", ID: h.ID, Name: "web", Active: h.Active, Events: h.Events,
		Config:    newConfig(h),
		UpdatedAt: h.UpdatedAt, CreatedAt: h.CreatedAt, URL: self, PingURL: self + "/pings",
		DeliveriesURL: self + "/deliveries"}
	p.LastResponse = &lastResponse{Code: h.LastCode, Status: h.LastStatus, Message: h.LastMessage}
	if h.RepoID != 0 {
		p.Type, p.TestURL = "Repository", self+"/tests"
	}
	return p
}

// item is GitHub's hook-delivery-item.
type item struct {
	ID             int64                   `json:"id"`
	GUID           string                  `json:"guid"`
	DeliveredAt    db.Time                 `json:"delivered_at"`
	Redelivery     bool                    `json:"redelivery"`
	Duration       float64                 `json:"duration"` // seconds
	Status         string                  `json:"status"`
	StatusCode     int64                   `json:"status_code"`
	Event          string                  `json:"event"`
	Action         *string                 `json:"action"`
	InstallationID *account.InstallationID `json:"installation_id"`
	RepositoryID   *int64                  `json:"repository_id"`
	ThrottledAt    *string                 `json:"throttled_at"`
}

// full is GitHub's hook-delivery.
type full struct {
	item
	URL      string  `json:"url"`
	Request  message `json:"request"`
	Response message `json:"response"`
}

// message is a request or an answer.
type message struct {
	Headers json.RawMessage `json:"headers"`
	Payload any             `json:"payload"`
}

func newItem(h *Hook, d *Delivery) item {
	i := item{ID: d.ID, GUID: h.GUID(d), DeliveredAt: d.DeliveredAt, Redelivery: d.Origin != 0,
		Duration: d.Seconds(), Status: d.Status, StatusCode: d.Code, Event: d.Event}
	if d.Action != "" {
		i.Action = &d.Action
	}
	if d.Installation != 0 {
		i.InstallationID = &d.Installation
	}
	if d.RepoID != 0 {
		i.RepositoryID = new(int64(d.RepoID))
	}
	return i
}

func newFull(h *Hook, d *Delivery) *full {
	f := &full{item: newItem(h, d), URL: d.URL, Request: message{Headers: headers(d.Sent)},
		Response: message{Headers: headers(d.Received)}}
	if d.Payload != nil {
		f.Request.Payload = json.RawMessage(d.Payload)
	}
	if d.Code != 0 {
		f.Response.Payload = d.Answer()
	}
	return f
}

// headers returns stored headers; none if the attempt failed before there were any.
func headers(stored string) json.RawMessage {
	if stored == "" || stored == "{}" {
		return json.RawMessage("null")
	}
	return json.RawMessage(stored)
}

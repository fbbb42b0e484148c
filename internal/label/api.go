package label

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// API answers the requests about labels.
type API struct {
	s       *Service
	repos   *repo.Service
	answers *tracker.Answers
}

// cacheBytes bounds the rendered answers kept in memory.
const cacheBytes = 4 << 20

// NewAPI makes the handlers of the service; repos finds the repository of a request.
func NewAPI(s *Service, repos *repo.Service) *API {
	return &API{s, repos, tracker.NewAnswers(s.db, cacheBytes)}
}

// Payload is GitHub's label.
type Payload struct {
	ID          int64   `json:"id"`
	NodeID      string  `json:"node_id"`
	URL         string  `json:"url"`
	Name        string  `json:"name"`
	Color       string  `json:"color"`
	Default     bool    `json:"default"`
	Description *string `json:"description"`
}

// NewPayload renders a label of the repository at the place.
func NewPayload(l *Label, at *tracker.Place) *Payload {
	return &Payload{
		ID: l.ID, NodeID: account.NodeID(resource, l.ID), URL: at.API + "/labels" + web.Path(l.Name),
		Name: l.Name, Color: l.Color, Default: l.Default, Description: l.Description,
	}
}

// NewPayloads renders a list of labels of one repository.
func NewPayloads(list []*Label, at *tracker.Place) []*Payload {
	out := make([]*Payload, len(list))
	for n, l := range list {
		out[n] = NewPayload(l, at)
	}
	return out
}

// GET /repos/{owner}/{repo}/labels
//
// List answers the labels of the repository by name.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		page := web.ReadPage(r)
		found, total, err := list(tx, a.ID, page)
		if err != nil {
			return nil, err
		}
		tx.OnCommit(func() { web.Link(w, r, page, total) })
		return NewPayloads(found, tracker.PlaceOf(r, a)), nil
	})
}

// POST /repos/{owner}/{repo}/labels
//
// Create makes a label; one without a colour gets that of labels which an issue
// names and nobody made. Errors: 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	body.Require("name")
	name, color := readName(body, "name"), readColor(body)
	description := body.String("description", maxDescription)
	if err := body.Err(); err != nil {
		return err
	}
	l, err := api.s.Create(r.Context(), a, Edit{Name: name, Color: color, Description: description})
	if err != nil {
		return err
	}
	made := NewPayload(l, tracker.PlaceOf(r, a))
	return web.Created(w, r, made.URL, made)
}

// readName reads the name of a label: not blank.
func readName(body *web.Object, field string) web.Opt[string] {
	name := body.String(field, MaxName)
	if name.Value != "" && strings.TrimSpace(name.Value) == "" {
		body.Wrong(field, errs.MissingField, "name can't be blank")
	}
	return name
}

// readColor reads a colour as six hexadecimal digits, perhaps behind a number
// sign, and makes them lower-case.
func readColor(body *web.Object) web.Opt[string] {
	color := body.String("color", 0)
	if color.Value == "" && string(body.Raw("color")) != `""` {
		return color // absent, null or no text
	}
	color.Value = plainColor(color.Value)
	checkColor(&body.Faults, color.Value)
	return color
}

// GET /repos/{owner}/{repo}/labels/{name}
//
// Get answers a label, whose name matches without regard to case. Errors: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		l, err := ByName(tx, a.ID, web.Param(r, "name"))
		if err != nil {
			return nil, err
		}
		return NewPayload(l, tracker.PlaceOf(r, a)), nil
	})
}

// PATCH /repos/{owner}/{repo}/labels/{name}
//
// Edit changes what the body names: new_name (or name), color and description.
// Errors: 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	field := "name"
	if body.Has("new_name") {
		field = "new_name"
	}
	e := Edit{Name: readName(body, field), Color: readColor(body),
		Description: body.String("description", maxDescription)}
	if string(body.Raw(field)) == `""` {
		body.Wrong(field, errs.MissingField, "name can't be blank")
	}
	if err := body.Err(); err != nil {
		return err
	}
	l, err := api.s.Edit(r.Context(), a, web.Param(r, "name"), e)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, NewPayload(l, tracker.PlaceOf(r, a)))
}

// Caches tells of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("label_answers")}
}

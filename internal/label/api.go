package label

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of labels.
type API struct {
	s       *Service
	repos   *repo.Service
	answers *repo.Answers
}

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 4 << 20

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API {
	return &API{s, repos, repo.NewAnswers(cacheBytes)}
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

// NewPayload renders a label of the repository at a place.
func NewPayload(l *Label, at *issuekit.Addresses) *Payload {
	return &Payload{
		ID: l.ID, NodeID: account.NodeID(resource, l.ID), URL: at.API + "/labels" + web.Path(l.Name),
		Name: l.Name, Color: l.Color, Default: l.Default, Description: l.Description,
	}
}

// NewPayloads renders labels of one repository.
func NewPayloads(list []*Label, at *issuekit.Addresses) []*Payload {
	out := make([]*Payload, len(list))
	for n, l := range list {
		out[n] = NewPayload(l, at)
	}
	return out
}

// GET /repos/{owner}/{repo}/labels
//
// List lists the labels of the repository by name.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	found, total, err := api.s.List(r.Context(), a, page)
	if err != nil {
		return err
	}
	web.Link(out, r, page, total)
	return out.JSON(NewPayloads(found, issuekit.AddressesOf(r, a)))
}

// POST /repos/{owner}/{repo}/labels
//
// Create creates a label. The default color is that of labels created by issues. Errors: 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	l, err := api.s.Create(r.Context(), a, readEdit(body, "name"))
	if err != nil {
		return err
	}
	made := NewPayload(l, issuekit.AddressesOf(r, a))
	return web.Created(w, r, made.URL, made)
}

// readEdit reads the fields of a label, whose name is in the field nameIn.
func readEdit(body *web.Object, nameIn string) Edit {
	e := Edit{Name: body.String(nameIn, 0), Color: body.String("color", 0),
		Description: body.String("description", 0), NameIn: nameIn}
	e.Body = body.Faults
	return e
}

// GET /repos/{owner}/{repo}/labels/{name}
//
// Get returns a label. Its name is matched case-insensitively. Errors: 404.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	l, err := api.s.Get(r.Context(), a, web.Param(r, "name"))
	if err != nil {
		return err
	}
	return out.JSON(NewPayload(l, issuekit.AddressesOf(r, a)))
}

// PATCH /repos/{owner}/{repo}/labels/{name}
//
// Edit changes the fields in the body: new_name (or name), color and description. Errors: 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	field := "name"
	if body.Has("new_name") {
		field = "new_name"
	}
	l, err := api.s.Edit(r.Context(), a, web.Param(r, "name"), readEdit(body, field))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, NewPayload(l, issuekit.AddressesOf(r, a)))
}

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("label_answers")}
}

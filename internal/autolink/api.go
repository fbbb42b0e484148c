package autolink

import (
	"net/http"
	"strconv"

	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API implements the HTTP handlers of autolinks.
type API struct {
	s     *Service
	repos *repo.Service
}

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos} }

// Routes returns the routes of autolinks.
func (api *API) Routes() []route.Route {
	administration := api.repos.Router(route.Needs(scope.PublicRepo, "administration"))
	return []route.Route{
		administration.Admin("GET /repos/{owner}/{repo}/autolinks", api.List),
		administration.Admin("POST /repos/{owner}/{repo}/autolinks", api.Create),
		administration.Admin("GET /repos/{owner}/{repo}/autolinks/{autolink_id}", api.Get),
		administration.Admin("DELETE /repos/{owner}/{repo}/autolinks/{autolink_id}", api.Delete),
	}
}

// payload is GitHub's autolink.
type payload struct {
	ID           int64  `json:"id"`
	Prefix       string `json:"key_prefix"`
	URL          string `json:"url_template"`
	Alphanumeric bool   `json:"is_alphanumeric"`
}

// GET /repos/{owner}/{repo}/autolinks
//
// List lists all autolinks of the repository.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	list, err := api.s.List(r.Context(), a)
	if err != nil {
		return err
	}
	out := make([]payload, len(list))
	for n, l := range list {
		out[n] = payload(*l)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// POST /repos/{owner}/{repo}/autolinks
//
// Create adds an autolink. Error: 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("key_prefix", "url_template")
	n := Autolink{Prefix: body.String("key_prefix", maxPrefix).Value, URL: body.String("url_template", maxTemplate).Value,
		Alphanumeric: body.Bool("is_alphanumeric").Or(true)}
	if err := body.Err(); err != nil {
		return err
	}
	made, err := api.s.Create(r.Context(), a, n)
	if err != nil {
		return err
	}
	at := web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name, "autolinks", strconv.FormatInt(made.ID, 10)))
	return web.Created(w, r, at, payload(*made))
}

// GET /repos/{owner}/{repo}/autolinks/{autolink_id}
//
// Get returns an autolink. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "autolink_id")
	if err != nil {
		return err
	}
	l, err := api.s.Get(r.Context(), a, id)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, payload(*l))
}

// DELETE /repos/{owner}/{repo}/autolinks/{autolink_id}
//
// Delete removes an autolink. Error: 404.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "autolink_id")
	if err == nil {
		err = api.s.Delete(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

package license

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about licenses.
type API struct{}

// Routes are the endpoints of licenses.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("GET /licenses", api.List),
		free.Anyone("GET /licenses/{license}", api.Get),
	}
}

// fullJSON is GitHub's license.
type fullJSON struct {
	*Simple
	HTMLURL        string   `json:"html_url"`
	Description    string   `json:"description"`
	Implementation string   `json:"implementation"`
	Permissions    []string `json:"permissions"`
	Conditions     []string `json:"conditions"`
	Limitations    []string `json:"limitations"`
	Body           string   `json:"body"`
	Featured       bool     `json:"featured"`
}

// GET /licenses
//
// List answers the licenses that are used most.
func (api *API) List(w http.ResponseWriter, r *http.Request) error {
	list := []*Simple{}
	for _, l := range Featured() {
		list = append(list, NewSimple(new(l.Key()), web.From(r.Context())))
	}
	return web.JSON(w, r, http.StatusOK, web.Cut(w, r, list))
}

// GET /licenses/{license}
//
// Get answers a license with its text. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	l := ByKey(web.Param(r, "license"))
	if l == nil {
		return errs.Absent()
	}
	key := l.Key()
	return web.JSON(w, r, http.StatusOK, fullJSON{
		Simple:      NewSimple(&key, web.From(r.Context())),
		HTMLURL:     l.Page(),
		Description: l.Description, Permissions: l.Permissions, Conditions: l.Conditions,
		Limitations:    l.Limitations,
		Implementation: Implementation,
		Body:           l.Text(), Featured: l.Featured,
	})
}

package gitignore

import (
	"io"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about templates.
type API struct{}

// Routes are the endpoints of templates.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("GET /gitignore/templates", api.List),
		free.Anyone("GET /gitignore/templates/{name}", api.Get),
	}
}

// GET /gitignore/templates
//
// List answers the names of all templates, on one page.
func (api *API) List(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, r, http.StatusOK, Names())
}

// GET /gitignore/templates/{name}
//
// Get answers a template; with the media type raw only its text. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "name")
	text, known := Template(name)
	if !known {
		return errs.Absent()
	}
	if web.From(r.Context()).Media.Kind == "raw" {
		if web.NotModified(w, r, web.Tag([]byte(text))) {
			return nil
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := io.WriteString(w, text)
		return err
	}
	return web.JSON(w, r, http.StatusOK, map[string]string{"name": name, "source": text})
}

package avatar

import (
	"net/http"
	"strconv"

	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the one route.
type API struct{ buffers pngBuffers }

// Routes are the endpoint of pictures.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{free.Anyone("GET /avatars/{id}", api.Get).In(route.Pages)}
}

// GET /avatars/{id}
//
// Get answers the picture of the account with this id, a PNG. It depends
// only on the id, so it does not reveal whether the account exists, and never changes.
// Errors: 404 for an invalid id.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	id, err := parseID(web.Param(r, "id"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if web.NotModified(w, r, `"avatar-2-`+id.String()+`"`) {
		return nil
	}
	picture, err := draw(id, &api.buffers)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "image/png")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	_, err = w.Write(picture)
	return err
}

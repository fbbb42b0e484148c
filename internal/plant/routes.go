package plant

import "arbor/internal/route"

// Routes are the endpoints of the plant store.
func (a *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.SignedIn, "GET /plants", a.List).In(route.Plants),
		route.New(route.SignedIn, "POST /plants", a.Create).In(route.Plants),
		route.New(route.SignedIn, "DELETE /plants/{id}", a.Delete).In(route.Plants),
	}
}

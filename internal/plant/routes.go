package plant

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of the plant store.
func (a *API) Routes() []route.Route {
	plants := route.Needs(scope.Plants, route.Never)
	return []route.Route{
		plants.SignedIn("GET /plants", a.List).In(route.Plants),
		plants.SignedIn("POST /plants", a.Create).In(route.Plants),
		plants.SignedIn("DELETE /plants/{id}", a.Delete).In(route.Plants),
	}
}

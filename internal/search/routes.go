package search

import "arbor/internal/route"

// Routes are the endpoints of searches.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.Anyone, "GET /search/issues", api.Issues),
	}
}

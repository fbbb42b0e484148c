package search

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of searches.
func (api *API) Routes() []route.Route {
	issues := route.Needs(scope.PublicRepo, "issues")
	return []route.Route{
		issues.Anyone("GET /search/issues", api.Issues),
	}
}

package server

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// feature is a part of the interface with its own endpoints.
type feature interface {
	Routes() []route.Route
}

// join returns all routes: the server's own and those of the features.
func (s *Server) join(features ...feature) []route.Route {
	routes := s.ownRoutes()
	for _, f := range features {
		routes = append(routes, f.Routes()...)
	}
	return routes
}

// ownRoutes returns the endpoints about the server itself.
func (s *Server) ownRoutes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("GET /", s.Root).InAnyMedia(),
		free.Anyone("GET /rate_limit", s.RateLimit),
		free.Anyone("GET /meta", s.Meta),
		free.Anyone("GET /versions", s.Versions),
		free.Anyone("GET /zen", s.Zen).InAnyMedia(),
		free.Anyone("GET /octocat", s.Octocat).InAnyMedia(),
		free.Anyone("GET /healthz", s.Healthz).In(route.Pages).AlsoWhenFull().WithoutToken(),
		free.Anyone("GET /readyz", s.Readyz).In(route.Pages).AlsoWhenFull().WithoutToken(),
		free.Anyone("GET /openapi/code-hosting.json", s.CodeHostingDocument).In(route.Pages),
		free.Anyone("GET /openapi/plants.json", s.PlantsDocument).In(route.Pages),
	}
}

package server

import (
	"arbor/internal/route"
	"arbor/internal/web"
)

// feature is a part of the interface, which owns its endpoints.
type feature interface {
	Routes() []route.Route
}

// join is the whole interface: the server's own endpoints and those of the features.
func (s *Server) join(features ...feature) []route.Route {
	routes := s.ownRoutes()
	for _, f := range features {
		routes = append(routes, f.Routes()...)
	}
	return routes
}

// ownRoutes are the endpoints that are about the server.
func (s *Server) ownRoutes() []route.Route {
	return []route.Route{
		route.New(route.Anyone, "GET /", s.Root).InAnyMedia(),
		route.New(route.Anyone, "GET /rate_limit", s.RateLimit),
		route.New(route.Anyone, "GET /meta", s.Meta),
		health("GET /healthz", s.Healthz),
		health("GET /readyz", s.Readyz),
		route.New(route.Anyone, "GET /docs", s.Docs).In(route.Pages),
		route.New(route.Anyone, "GET /docs/docs.js", s.DocsScript).In(route.Pages),
		route.New(route.Anyone, "GET /docs/redoc.js", s.DocsRenderer).In(route.Pages),
		route.New(route.Anyone, "GET /openapi/code-hosting.json", s.CodeHostingDocument).In(route.Pages),
		route.New(route.Anyone, "GET /openapi/plants.json", s.PlantsDocument).In(route.Pages),
	}
}

// health is a route for load balancers, which is answered also when the server is full.
func health(address string, h web.Handler) route.Route {
	r := route.New(route.Anyone, address, h).In(route.Pages)
	r.Unadmitted = true
	return r
}

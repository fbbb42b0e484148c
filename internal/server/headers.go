package server

import (
	"net/http"

	"arbor/internal/route"
	"arbor/internal/web"
)

// Shared header values. They must not be modified.
var (
	any1    = []string{"*"}
	exposed = []string{"ETag, Link, Location, Retry-After, GitHub-Authentication-Token-Expiration, " +
		"X-Accepted-GitHub-Permissions, X-Accepted-OAuth-Scopes, X-OAuth-Scopes, X-Poll-Interval, " +
		"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Resource, X-RateLimit-Used, " +
		"X-GitHub-Request-Id, X-Request-Id, X-Service-Media-Type, X-GitHub-Media-Type"}
	varyEncoding = []string{"Accept, Accept-Encoding, Authorization"}
	sameOrigin   = []string{"same-origin"}
	varyCookie   = []string{"Accept, Accept-Encoding, Authorization, Cookie"}
	privateCache = []string{"private, max-age=0, must-revalidate"}
	publicCache  = []string{"public, max-age=0, must-revalidate"}
	plainService = []string{"service.v3; format=json"}
	plainGitHub  = []string{"github.v3; format=json"}
	nosniff      = []string{"nosniff"}
)

// commonHeaders sets the headers of every API response (decisions 4, 22, 27). It never allows credentials
// across origins, so cookies do not matter.
func (s *Server) commonHeaders(h http.Header, info *web.Info, g route.Group) {
	s.allowOrigins(h)
	h["Vary"] = varyEncoding
	h["X-Content-Type-Options"] = nosniff
	if g == route.API {
		h["X-Github-Request-Id"] = h["X-Request-Id"] // clients of GitHub quote it in problem reports
	}
	if g != route.API || info.Pattern == "" {
		return
	}
	if len(info.Media.Asked) == 0 {
		h["X-Service-Media-Type"] = plainService
		if info.Media.Graduated {
			h["X-Github-Media-Type"] = plainGitHub
		}
		return
	}
	h["X-Service-Media-Type"] = []string{info.Media.Header("service")}
	if info.Media.Graduated {
		h["X-Github-Media-Type"] = []string{info.Media.Header("github")}
	}
}

// allowOrigins permits pages of all origins to read the response, unless every request needs a token.
func (s *Server) allowOrigins(h http.Header) {
	if !s.o.RequireToken {
		h["Access-Control-Allow-Origin"] = any1
		h["Access-Control-Expose-Headers"] = exposed
	}
}

// cookieHeaders adjusts the common headers of an address that accepts a session cookie: Vary includes
// Cookie, and other sites may neither read nor embed a response to a session.
func cookieHeaders(h http.Header, bySession bool) {
	if len(h["Vary"]) > 0 {
		h["Vary"] = varyCookie
	}
	if bySession {
		delete(h, "Access-Control-Allow-Origin")
		delete(h, "Access-Control-Expose-Headers")
		h["Cross-Origin-Resource-Policy"] = sameOrigin
	}
}

// cacheControl sets Cache-Control (decisions 27, 55).
func cacheControl(h http.Header, authenticated bool) {
	if authenticated {
		h["Cache-Control"] = privateCache
	} else {
		h["Cache-Control"] = publicCache
	}
}

// preflight answers an OPTIONS request: a CORS preflight (decision 22) if origins are allowed, else only
// Allow.
func preflight(w *web.Writer, n *node, origins bool) {
	h := w.Header()
	h.Set("Allow", n.allow)
	if !origins {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Access-Control-Allow-Methods", n.allow)
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Accept, Content-Type, If-None-Match, If-Modified-Since, User-Agent, X-Requested-With, X-GitHub-Api-Version")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

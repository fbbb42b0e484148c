package server

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

// takesCookie reports a request that a browser's session counts for: that of a page, or of a file that pages
// show or lead to, where people who look at a private repository open it. The API never takes the cookie.
func takesCookie(r *http.Request, info *web.Info, n *node) bool {
	return n.group == route.Pages || n.pattern == "/" && isPage(r, info) ||
		n.file && safe(r.Method) && info.Prefix == info.Site
}

// bringsSession reports a request for a page with a cookie, which may be worth something.
func bringsSession(r *http.Request, info *web.Info, n *node) bool {
	switch {
	case page.SessionOf(r) == "":
		return false
	case n == nil:
		return isUnroutedPage(r, info, route.API)
	}
	return takesCookie(r, info, n)
}

// isUnroutedPage reports a browser's request for an address without a route, or for a page by a method that
// the page does not have.
func isUnroutedPage(r *http.Request, info *web.Info, g route.Group) bool {
	return isPage(r, info) && (info.Pattern == "" || g == route.Pages)
}

// SetupCode is the code with which a person makes the first account of a server without users.
func (s *Server) SetupCode() string { return s.setup }

// isPage reports a browser's request for the page at the root.
func isPage(r *http.Request, info *web.Info) bool { return page.Asked(r) && info.Prefix == info.Site }

// authenticateSession finds who has signed in with the browser. A cookie that is worth nothing any more is
// taken back.
func (s *Server) authenticateSession(w http.ResponseWriter, r *http.Request) (*account.Caller, error) {
	session := page.SessionOf(r)
	if session == "" {
		return nil, nil
	}
	caller, err := s.accounts.AuthenticateSession(r.Context(), session)
	if caller == nil && err == nil {
		page.EndSession(w, r)
	}
	return caller, err
}

// crossOrigin reports an unsafe request that a browser makes for another site's page. Behind a proxy the
// request's host may be another than that of the site.
func (s *Server) crossOrigin(r *http.Request, info *web.Info) bool {
	if safe(r.Method) {
		return false
	}
	if r.Header.Get("Origin") == info.Site {
		return false
	}
	asked := *r
	asked.Host = strings.TrimPrefix(strings.TrimPrefix(info.Site, "https://"), "http://")
	return http.NewCrossOriginProtection().Check(&asked) != nil
}

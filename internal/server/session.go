package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

// takesCookie reports whether a session cookie authenticates the request. It does for pages, and for files
// that pages embed or link to, such as raw files of a private repository. It does not for the API.
func takesCookie(r *http.Request, info *web.Info, n *node) bool {
	return n.group == route.Pages || n.pattern == "/" && isPage(r, info) ||
		n.file && safe(r.Method) && info.Prefix == info.Site
}

// bringsSession reports whether a request for a page has a session cookie, which may be invalid.
func bringsSession(r *http.Request, info *web.Info, n *node) bool {
	switch {
	case page.SessionOf(r) == "":
		return false
	case n == nil:
		return isUnroutedPage(r, info, route.API)
	}
	return takesCookie(r, info, n)
}

// isUnroutedPage reports whether a browser requested an unknown address, or a page with a method that it
// does not have.
func isUnroutedPage(r *http.Request, info *web.Info, g route.Group) bool {
	return isPage(r, info) && (info.Pattern == "" || g == route.Pages)
}

// SetupCode returns the code for creating the first account of a server without users.
func (s *Server) SetupCode() string { return s.setup }

// setupCode derives that code from a key that all nodes of a store share: any of them takes what another one printed.
func setupCode(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("setup"))
	return base32.StdEncoding.EncodeToString(mac.Sum(nil))[:12]
}

// isPage reports whether a browser requested a page at the site's own address.
func isPage(r *http.Request, info *web.Info) bool { return page.Asked(r) && info.Prefix == info.Site }

// authenticateSession returns the user signed in with the browser. It deletes an invalid cookie.
func (s *Server) authenticateSession(w http.ResponseWriter, r *http.Request) (*account.Caller, error) {
	session := page.SessionOf(r)
	if session == "" {
		return nil, nil
	}
	caller, err := s.forge.Sessions.AuthenticateSession(r.Context(), session)
	if caller == nil && err == nil {
		page.EndSession(w, r)
	}
	return caller, err
}

// crossOrigin reports whether a browser sent an unsafe request for another site's page. Behind a proxy the
// request's host may differ from the site's.
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

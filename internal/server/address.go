package server

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/route"
	"arbor/internal/scim"
	"arbor/internal/web"
)

// locate parses the address into prefix, host, route and placeholders (decision 7).
func (s *Server) locate(r *http.Request, info *web.Info, from *admission.Origin) *node {
	site, self, apiHost := web.Address(from.Scheme, from.Host, s.o.BaseURL)
	info.Site, info.Prefix = site, self
	info.SSHHost, info.SSHPort = s.o.SSH.Host, s.o.SSH.Port
	info.Media.Graduated = s.o.Graduated || apiHost
	path := r.URL.EscapedPath()
	prefix, rest := cutPrefix(path)
	if prefix != "" {
		info.Prefix += apiPrefix // also for uploads: all other addresses are under it
		info.Media.Graduated = true
		stripPrefix(r.URL)
		path = rest
	}
	c, _ := s.matches.Get().(*chi.Context)
	if c == nil {
		c = chi.NewRouteContext()
	}
	c.Reset()
	defer s.matches.Put(c)
	n := s.match(c, path, prefix)
	info.Docs = site + "/docs"
	if n == nil {
		if info.Form = errorForm(route.API); info.Prefix == self {
			info.Form = s.formOf(path)
		}
		return nil
	}
	info.Pattern, info.Form = n.pattern, errorForm(n.group)
	switch {
	case n.group == route.Pages:
		info.Form = s.pageErrors
	case n.lfs:
		info.Form = web.APIErrors
	case n.scim:
		info.Form = scim.Errors
	}
	if !setParams(info, c, n) {
		return nil
	}
	return n
}

// match returns the node of a path, or nil. prefix is the prefix that was cut off the path, if any.
func (s *Server) match(c *chi.Context, path, prefix string) *node {
	n := s.table.match(c, path)
	switch {
	case n == nil || prefix == uploadPrefix && !n.streams:
		return nil
	case prefix != "" && n.group != route.API && n.pattern != "/":
		return nil // only the API is under /api/v3
	case strings.HasPrefix(n.pattern, "/{owner}") && s.reserved[account.Fold(c.URLParam("owner"))]:
		return nil // an unknown address of the API, not an account's page
	}
	return n
}

// setParams stores the decoded values of the placeholders. It reports false for a value that cannot be a
// name: names are UTF-8 without NUL. The plant store has no names and reports invalid numbers itself
// (decision 67), so it gets other bytes as they were sent.
func setParams(info *web.Info, c *chi.Context, n *node) bool {
	for i, name := range c.URLParams.Keys {
		if name == "*" {
			name = wildName(n.pattern)
		}
		value := strings.TrimSuffix(c.URLParams.Values[i], n.suffix)
		if strings.IndexByte(value, '%') >= 0 {
			decoded, err := url.PathUnescape(value)
			switch {
			case err == nil && strings.IndexByte(decoded, 0) < 0 && utf8.ValidString(decoded):
				value = decoded
			case n.group != route.Plants:
				return false
			}
		}
		info.SetParam(name, value)
	}
	return true
}

// Clients of GitHub Enterprise look for the API and for release uploads under these prefixes.
const (
	apiPrefix    = "/api/v3"
	uploadPrefix = "/api/uploads"
)

// cutPrefix cuts one of the prefixes off a path. The rest begins with a slash.
func cutPrefix(path string) (prefix, rest string) {
	for _, prefix := range [...]string{apiPrefix, uploadPrefix} {
		rest, ok := strings.CutPrefix(path, prefix)
		switch {
		case ok && rest == "":
			return prefix, "/"
		case ok && rest[0] == '/':
			return prefix, rest
		}
	}
	return "", path
}

func stripPrefix(u *url.URL) {
	c := *u
	_, c.Path = cutPrefix(u.Path)
	if u.RawPath != "" {
		_, c.RawPath = cutPrefix(u.RawPath)
	}
	*u = c
}

// formOf returns the form of errors for a path without a route, guessed from the clients that use such
// paths.
func (s *Server) formOf(path string) web.Form {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case first == "plants":
		return errorForm(route.Plants)
	case isGitPath(path) && !s.reserved[account.Fold(first)]:
		return errorForm(route.Git)
	default:
		return s.lostErrors // the API's for programs
	}
}

// isGitPath reports whether only git requests the path.
func isGitPath(path string) bool {
	return strings.HasSuffix(path, "/info/refs") || strings.HasSuffix(path, "/git-upload-pack") ||
		strings.HasSuffix(path, "/git-receive-pack") || strings.Contains(path, ".git/")
}

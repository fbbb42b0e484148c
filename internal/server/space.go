package server

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/graphql"
	"arbor/internal/route"
	"arbor/internal/web"
)

// grow refuses a request that takes room while a disk has little, and bounds what it writes in the caller's
// name. Errors: 507; 403 for an account that writes plants and has no room for them.
func (s *Server) grow(r *http.Request, caller *account.Caller, to *route.Route) (*http.Request, error) {
	if !needsSpace(r, to) {
		return r, nil
	}
	room := s.room.CheckRows
	if to.Group == route.Git || to.Streams {
		room = s.room.Check
	}
	if err := room(); err != nil || caller == nil || to.Group == route.Git {
		return r, err
	}
	limit, err := s.accounts.LimitText(r.Context(), caller)
	switch {
	case err != nil || limit == nil:
		return r, err
	case to.Group == route.Plants: // each is small: it is enough to ask before
		return r, limit.Full()
	}
	return r.WithContext(db.WithLimit(r.Context(), limit.Check)), nil
}

// textLimits bounds texts as the server's options say: who bounds repositories alone means all that is stored.
func textLimits(o Options) account.TextLimits {
	kb := account.Unbounded
	for _, bound := range []*int64{o.Quota.KB, o.Quota.Text} {
		if bound != nil {
			kb = *bound
		}
	}
	return account.TextLimits{KB: kb, Rate: o.TextRate}
}

// needsSpace reports a request that takes room on the disk: all writes but deletions, and what git
// asks before it pushes, since git shows people the answer to that.
func needsSpace(r *http.Request, to *route.Route) bool {
	switch {
	case to.Pattern == "/{owner}/{repo}/info/refs":
		return web.QueryOf(r).Get("service") == "git-receive-pack"
	case safe(r.Method), to.Pattern == "/{owner}/{repo}/git-upload-pack", graphql.IsRoute(to.Pattern),
		to.Group == route.Pages: // what a page asks of the API is asked this, too
		return false
	case r.Method == http.MethodDelete:
		return to.Pattern == "/repos/{owner}/{repo}/contents/{path...}" // that is a commit
	}
	return true
}

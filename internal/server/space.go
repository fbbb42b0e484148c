package server

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
)

// checkSpace refuses a request that takes room while a disk has little, and bounds what it writes in the
// caller's name. Errors: 507; 403 for an account that writes plants and has no room for them.
func (s *Server) checkSpace(r *http.Request, caller *account.Caller, to *route.Route) (*http.Request, error) {
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

// needsSpace reports a request that takes room on the disk: what its route says, else each write but deletions
// and those of pages. What a page asks of the API takes room there.
func needsSpace(r *http.Request, to *route.Route) bool {
	if to.Space != nil {
		return to.Space(r)
	}
	return !safe(r.Method) && r.Method != http.MethodDelete && to.Group != route.Pages
}

package server

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/route"
	"arbor/internal/web"
)

// checkSpace rejects a request that needs disk space while little is left, and limits what it writes for
// the caller. Errors: 507; 403 for an account that has used its quota for plants.
func (s *Server) checkSpace(
	ctx context.Context, caller *account.Caller, to *route.Route,
) (context.Context, error) {
	room := s.room.CheckRows
	if to.Group == route.Git || to.Streams {
		room = s.room.Check
	}
	if err := room(); err != nil || caller == nil || to.Group == route.Git {
		return ctx, err
	}
	limit, err := s.accounts.LimitText(ctx, caller)
	switch {
	case err != nil || limit == nil:
		return ctx, err
	case to.Group == route.Plants: // plants are small: checking before the write suffices
		return ctx, limit.Full()
	}
	return account.WithTextLimit(ctx, limit), nil
}

// roomFor is checkSpace for a form, whose route does not say what it stores.
func (s *Server) roomFor(ctx context.Context, caller *account.Caller) (context.Context, error) {
	return s.checkSpace(ctx, caller, &route.Route{})
}

// textLimits returns the text limits of the options. Without a limit of its own, text is limited as
// repositories are.
func textLimits(o Options) account.TextLimits {
	kb := account.Unbounded
	for _, bound := range []*int64{o.Quota.KB, o.Quota.Text} {
		if bound != nil {
			kb = *bound
		}
	}
	return account.TextLimits{KB: kb, Rate: o.TextRate}
}

// needsSpace reports whether requests of a method need disk space. If the route does not say so, all writes do
// except deletions and pages, whose forms ask themselves.
func needsSpace(method string, to *route.Route) bool {
	if to.Space != route.SpaceByMethod {
		return to.Space == route.SpaceAlways
	}
	return !safe(method) && method != http.MethodDelete && to.Group != route.Pages
}

// announcesPush reports whether git asks before a push. On a full disk git shows the answer to people.
func announcesPush(r *http.Request, to *route.Route) bool {
	return to.Space == route.SpaceBeforePush && web.QueryOf(r).Get("service") == "git-receive-pack"
}

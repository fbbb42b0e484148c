package server

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql"
	"arbor/internal/issue/branch"
	"arbor/internal/ratelimit"
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/web"
)

// maxAsked is the size in bytes of the largest response to an internal request.
const maxAsked = 32 << 20

// ask sends a request of GraphQL to the REST API, as the caller in the context. The route's token check and the
// handler's own checks apply. The outer request has already been counted and admitted. Errors: those of the route.
func (s *Server) ask(ctx context.Context, q graphql.Question) (*web.Captured, error) {
	address := q.Path
	if len(q.Query) > 0 {
		address += "?" + q.Query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, "Not Found", err)
	}
	info := innerInfo(ctx, q.Media)
	info.Members = q.Members
	to := s.endpointOf(r, info)
	if to == nil {
		return nil, errs.Absent()
	}
	if ctx, err = s.admitTo(web.WithInfo(ctx, info), to, r); err != nil {
		return nil, err
	}
	r = r.WithContext(ctx)
	handler := to.Handler
	if q.Handler != nil {
		handler = q.Handler
	}
	answer := web.Capture()
	answer.Limit(maxAsked, func(bytes int64) error { return admission.Hold(ctx, bytes) })
	if err := handler(answer, r); err != nil {
		return nil, err
	}
	return answer, nil
}

// endpointOf returns the route of a request to the API or the plant store and stores the values of its
// placeholders, or returns nil.
func (s *Server) endpointOf(r *http.Request, info *web.Info) *endpoint {
	c := chi.NewRouteContext()
	n := s.match(c, r.URL.EscapedPath(), "")
	if n == nil || n.group != route.API && n.group != route.Plants || n.isNotImplemented() ||
		graphql.IsRoute(n.pattern) {
		return nil
	}
	info.Pattern = n.pattern
	if !setParams(info, c, n) {
		return nil
	}
	return n.find(r.Method)
}

// newGraphQL returns the GraphQL API, which calls handlers of the features.
func (s *Server) newGraphQL(of *apis) *graphql.API {
	repos, pulls := s.forge.Repos, of.Pulls
	branches := branch.New(s.o.DB, repos)
	do := graphql.Operations{Grant: s.grant, Explain: s.explain, DB: s.o.DB, Repos: repos, Settings: s.forge.Settings,
		Issues: s.forge.Issues, Comments: of.comments, Subscriptions: of.subscriptions, Branches: branches,
		Labels: of.labels, Deletions: of.deletions, Pulls: s.forge.Pulls, Reviews: of.reviews, Checks: of.checks,
		Stars: of.stars, Follows: of.follows, Git: of.Git}
	return graphql.NewAPI(s.ask, do, graphql.Handlers{DB: s.o.DB}, graphql.Loaders{Repos: repos, Pulls: pulls, Reviews: of.Reviews, Issues: s.forge.Issues,
		Comments: of.Comments, Timelines: of.Timelines,
		Branches: branch.NewAPI(branches), Statuses: of.Statuses, Checks: of.Checks, Reactions: reaction.NewMany(s.o.DB),
		Git: of.Git, Labels: of.Labels, Milestones: of.Milestones, Releases: of.Releases,
		Accounts: s.accounts, Lists: of.lists, Stars: of.stars, Languages: s.forge.Detect,
		Collaborators: of.collaborators, Networks: s.forge.Network}, graphqlLimits{s.limiter}, s.log)
}

// graphqlLimits adapts the rate limiter to GraphQL.
type graphqlLimits struct{ *ratelimit.Limiter }

// Take charges more points to the caller.
func (l graphqlLimits) Take(
	w http.ResponseWriter, r *http.Request, caller *account.Caller, more int64,
) error {
	ww, ok := w.(*web.Writer)
	if !ok {
		ww = &web.Writer{ResponseWriter: w}
	}
	return l.Limiter.Take(ww, r, caller, more)
}

// Left returns the caller's limit, what remains of it, and the time of the reset.
func (l graphqlLimits) Left(
	r *http.Request, caller *account.Caller,
) (limit, remaining int64, reset time.Time) {
	remaining, reset = l.Limiter.Left(r, caller)
	return l.Limit(), max(0, remaining), reset
}

package server

import (
	"context"
	"fmt"
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
	"arbor/internal/space"
	"arbor/internal/web"
)

// maxAsked is the size in bytes of the largest response to an internal request.
const maxAsked = 32 << 20

// ask sends a request of GraphQL to the REST API, as the caller in the context. The route's token check and the handler's own checks apply. The outer request has already been
// counted and admitted. Errors: those of the route.
func (s *Server) ask(ctx context.Context, q graphql.Question) (*web.Captured, error) {
	address := q.Path
	if len(q.Query) > 0 {
		address += "?" + q.Query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.MethodOf(), address, nil)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, "Not Found", err)
	}
	outer := web.From(ctx)
	info := &web.Info{ID: outer.ID, Site: outer.Site, Prefix: outer.Prefix, SSHHost: outer.SSHHost,
		SSHPort: outer.SSHPort,
		Docs:    outer.Docs, From: outer.From, Who: outer.Who, TokenID: outer.TokenID, Members: q.Members,
		Media: web.ParseAccept([]string{"application/vnd.github." + q.Media + "+json"})}
	to := s.endpointOf(r, info)
	if to == nil {
		return nil, errs.Absent()
	}
	r = web.With(r, info)
	if q.Body != nil {
		r.Body, r.ContentLength = &web.Body{Data: q.Body}, int64(len(q.Body))
		r.Header.Set("Content-Type", "application/json")
	}
	caller := account.CallerFrom(ctx)
	if err := s.checkAccess(r, caller, info, to); err != nil {
		return nil, err
	}
	if caller != nil {
		if r, err = s.permit(r, caller, info, to); err != nil {
			return nil, err
		}
	}
	if r, err = s.checkSpace(r, caller, to.Route); err != nil {
		return nil, err
	}
	handler := to.Handler
	if q.Handler != nil {
		handler = q.Handler
	}
	answer := web.Capture()
	answer.Limit(maxAsked, func(bytes int64) error { return admission.Hold(ctx, bytes) })
	if err := handler(answer, r); err != nil {
		if !safe(r.Method) {
			err = space.Explain(err, s.disks...)
		}
		return nil, err
	}
	return answer, nil
}

// permitRoute applies the checks of a route of the API to an operation that is called in its place, and returns
// the operation's context, with the caller limited to what the token allows on the route, and the role in a
// repository that the route requires. The address is the route's method and pattern. Errors: those of a request
// before its handler.
func (s *Server) permitRoute(ctx context.Context, address string) (context.Context, account.Role, error) {
	to, there := s.table.named[address]
	if !there {
		return nil, account.None, fmt.Errorf("server: the API has no route %q", address)
	}
	r := (&http.Request{Method: to.Method}).WithContext(ctx)
	caller, info := account.CallerFrom(ctx), web.From(ctx)
	err := s.checkAccess(r, caller, info, &to)
	if err == nil && caller != nil {
		r, err = s.permit(r, caller, info, &to)
	}
	if err == nil {
		r, err = s.checkSpace(r, caller, to.Route)
	}
	if err != nil {
		return nil, account.None, err
	}
	return r.Context(), leastRole(to.Right), nil
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
	repos, issues, pulls := s.forge.Repos, of.Issues, of.Pulls
	branches := branch.NewAPI(branch.New(s.o.DB, repos))
	return graphql.NewAPI(s.ask, s.permitRoute, graphql.Handlers{
		DB:     s.o.DB,
		Pin:    repos.With(account.Push, issues.PinIssue), Delete: repos.With(account.Admin, issues.DeleteIssue),
		Draft:      repos.With(account.Pull, pulls.SetDraft),
		Revert:     repos.With(account.Push, pulls.Revert),
		LinkBranch: repos.With(account.Push, branches.Create), UnlinkBranch: repos.With(account.Push, branches.Remove),
		Transfer:    repos.With(account.Push, issues.TransferIssue),
		AddDraft:    repos.With(account.Pull, of.Reviews.CreateDraft),
		Resolve:     repos.With(account.Pull, of.Reviews.ResolveThread),
		MarkViewed:  repos.With(account.Pull, of.Reviews.MarkViewed),
		CommitFiles: repos.With(account.Push, of.Git.CommitFiles),
	}, graphql.Loaders{Repos: repos, Pulls: pulls, Reviews: of.Reviews, Issues: s.forge.Issues,
		Comments: of.Comments, Timelines: of.Timelines,
		Branches: branches, Statuses: of.Statuses, Checks: of.Checks, Reactions: reaction.NewMany(s.o.DB),
		Git: of.Git, Labels: of.Labels, Milestones: of.Milestones, Releases: of.Releases,
		Searches: s.forge.Searches, FindRepositories: of.repositories.Find, FindAccounts: of.People.Find,
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

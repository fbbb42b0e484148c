package server

import (
	"net/http"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/graphql"
	"arbor/internal/issue/branch"
	"arbor/internal/issue/revision"
	"arbor/internal/ratelimit"
	"arbor/internal/reaction"
	"arbor/internal/web"
)

// newGraphQL returns the GraphQL API, which calls operations of the features.
func (s *Server) newGraphQL(of *apis) *graphql.API {
	repos, pulls := s.forge.Repos, of.Pulls
	branches := branch.New(s.o.DB, repos)
	do := graphql.Operations{Explain: s.explain, DB: s.o.DB, Settings: s.forge.Settings,
		Issues: s.forge.Issues, Comments: of.comments, Subscriptions: of.subscriptions, Branches: branches,
		Labels: of.labels, Deletions: of.deletions, Pulls: s.forge.Pulls, Reviews: of.reviews, Checks: of.checks,
		Stars: of.stars, Follows: of.follows, Git: of.objects, Rules: s.forge.Rules}
	return graphql.NewAPI(s.permitRoute, do, graphql.Loaders{Repos: repos, Pulls: pulls, Reviews: of.Reviews, Issues: s.forge.Issues,
		Comments: of.Comments, Timelines: of.Timelines, Revisions: revision.New(s.o.DB),
		Subscriptions: of.subscriptions, Branches: branch.NewAPI(branches),
		Statuses: of.Statuses, Checks: of.Checks, Reactions: reaction.NewMany(s.o.DB),
		Git: of.objects, Signatures: s.forge.Signatures, Labels: of.Labels, Milestones: of.Milestones, Releases: of.Releases, Rules: s.forge.Rules,
		Searches: s.forge.Searches, FindRepositories: of.repositories.Find, FindAccounts: of.People.Find,
		Accounts: s.accounts, Replies: of.replies, Markups: of.markups, Lists: of.lists, Stars: of.stars, Pins: of.pins,
		Languages:     s.forge.Detect,
		Collaborators: of.collaborators, Teams: s.forge.Teams, Networks: s.forge.Network, Owners: of.codeOwners,
		Activities: of.activities, Keys: key.New(s.o.DB, s.accounts),
		Invitations: s.forge.Invitations, Deployments: of.deployments, OnCommits: of.onCommits,
		Notifications: of.notices},
		graphqlLimits{s.limiter}, s.log)
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

// Left returns the caller's limit, what remains of it, and the time of the reset. Without a limit it returns what
// GET /rate_limit reports then.
func (l graphqlLimits) Left(
	r *http.Request, caller *account.Caller,
) (limit, remaining int64, reset time.Time) {
	remaining, reset = l.Limiter.Left(r, caller)
	if l.Limit() <= 0 {
		return unlimited, unlimited, reset
	}
	return l.Limit(), max(0, remaining), reset
}

package issue

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /issues
//
// ListAll lists the issues of all repositories that the caller owns or collaborates on and of the caller's
// organizations (decision 14). Errors: 422.
func (api *API) ListAll(w http.ResponseWriter, r *http.Request) error {
	return api.listAcross(w, r, func(_ *db.Tx, s *repo.Scope) error {
		s.Own, s.Organizations = true, true
		return nil
	})
}

// GET /user/issues
//
// ListOwn lists the issues of all repositories that the caller owns or collaborates on. Errors: 422.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	return api.listAcross(w, r, func(_ *db.Tx, s *repo.Scope) error {
		s.Own = true
		return nil
	})
}

// GET /orgs/{org}/issues
//
// ListOfOrg lists the issues of an organization's repositories that are visible to the caller. Errors: 404,
// 422.
func (api *API) ListOfOrg(w http.ResponseWriter, r *http.Request) error {
	return api.listAcross(w, r, func(tx *db.Tx, s *repo.Scope) error {
		org, err := account.ByLogin(tx, web.Param(r, "org"))
		if err == nil && org.Kind != account.Organization {
			err = errs.Absent()
		}
		if err == nil {
			s.OwnerID = org.ID
		}
		return err
	})
}

// listAcross writes a page of the issues of several repositories. The set of repositories cannot be part of
// a cache key, so a cached response is valid only until the next commit of any kind.
func (api *API) listAcross(
	w http.ResponseWriter, r *http.Request, scope func(*db.Tx, *repo.Scope) error,
) error {
	me := account.CallerFrom(r.Context())
	l := &across{api: api, me: me, at: web.ReadPage(r), scope: scope,
		keepLink: func(total int64) { web.Link(w, r, web.ReadPage(r), total) }}
	if err := api.s.db.Read(r.Context(), l.checkScope); err != nil {
		return err
	}
	var err error
	if l.filter, err = web.QueryEnum(r, Resource, "filter", "assigned", "created", "mentioned", "subscribed",
		"all"); err != nil {
		return err
	}
	if l.options, err = readOptions(r); err != nil {
		return err
	}
	return api.s.answers.Serve(w, r, api.s.db.State(r.Context()), web.Key(r, account.ViewOf(me)), l.render)
}

// across is a list of issues of several repositories.
type across struct {
	api      *API
	me       *account.Caller
	scope    func(*db.Tx, *repo.Scope) error
	filter   string
	options  ListOptions
	at       web.Page
	keepLink func(total int64)
}

// checkScope returns 404 if the organization does not exist. It is called before parameters are validated
// (decision 16).
func (l *across) checkScope(tx *db.Tx) error { return l.scope(tx, &repo.Scope{Caller: l.me}) }

func (l *across) render(out *web.Output) error {
	ctx := out.Context()
	var p *page
	err := l.api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = newPage(ctx)
		p.repository = map[repo.ID][]byte{}
		q, err := l.query(tx)
		if err != nil {
			return err
		}
		var found posting.Found
		if p.issues, found, err = l.api.s.Find(tx, q, l.at.Offset(), l.at.Size); err != nil {
			return err
		}
		tx.OnCommit(func() { l.keepLink(found.Total) })
		if err := p.enter(tx, l.me); err != nil {
			return err
		}
		return p.load(tx)
	})
	if err != nil {
		return err
	}
	return l.api.renderList(out, p, 8<<10)
}

// enter reads the repositories of the page's issues, which the query has found to be visible to the caller.
func (p *page) enter(tx *db.Tx, caller *account.Caller) error {
	ids := make([]repo.ID, len(p.issues))
	for n, i := range p.issues {
		ids[n] = i.RepoID
	}
	list, err := repo.Accesses(tx, caller, db.Unique(ids))
	for _, a := range list {
		p.repos[a.ID], p.places[a.ID] = a, issuekit.NewAddresses(p.info, a.Repo)
	}
	return err
}

// maxNamed is the maximum number of repositories that a query lists by id. More are selected by a subquery,
// because a statement can have only some ten thousand parameters and checks each.
const maxNamed = 2000

// query returns the query for the repositories in scope.
func (l *across) query(tx *db.Tx) (posting.Query, error) {
	q := posting.Query{Order: l.options.Order}
	s := repo.Scope{Caller: l.me}
	if err := l.scope(tx, &s); err != nil {
		return q, err
	}
	repos, err := repo.InScope(tx, s)
	if err != nil {
		return q, err
	}
	if len(repos) > maxNamed {
		query, args := s.IDs()
		q.Many, repos = &posting.Scope{SQL: query, Args: args}, nil
	}
	for _, r := range repos {
		q.Repos = append(q.Repos, posting.Repo{ID: r.ID, IssuesOff: !r.HasIssues})
	}
	// Pull requests are listed even if issues are disabled (decision 16).
	where := append(l.options.conditions(),
		posting.Or{posting.IssuesOn{}, posting.HasOne(posting.ByPull.Of(0))})
	filters := map[string]posting.Kind{"assigned": posting.ByAssignee, "created": posting.ByAuthor,
		"mentioned": posting.ByMention, "subscribed": posting.BySubscriber}
	if kind, ok := filters[l.filter]; ok {
		where = append(where, posting.HasOne(kind.OfUser(l.me.ID)))
	}
	for _, name := range l.options.Labels {
		where = append(where, posting.Named{Kind: posting.ByLabel, Names: []string{name}})
	}
	q.Where = where
	return q, nil
}

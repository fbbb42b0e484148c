package issue

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// GET /issues
//
// ListAll answers a page of the issues of all repositories that the caller owns
// or collaborates on, and of those of the caller's organizations (decision 14).
// Errors: 422.
func (api *API) ListAll(w http.ResponseWriter, r *http.Request) error {
	return api.listAcross(w, r, func(_ *db.Tx, s *repo.Scope) error {
		s.Own, s.Organizations = true, true
		return nil
	})
}

// GET /user/issues
//
// ListOwn answers a page of the issues of the repositories that the caller owns
// or collaborates on. Errors: 422.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	return api.listAcross(w, r, func(_ *db.Tx, s *repo.Scope) error {
		s.Own = true
		return nil
	})
}

// GET /orgs/{org}/issues
//
// ListOfOrg answers a page of the issues of those of an organization's
// repositories that the caller may see. Errors: 404, 422.
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

// listAcross answers a page of the issues of many repositories. Which they are
// depends on more than a key can name, so the answer is kept only while nothing
// at all is committed.
func (api *API) listAcross(w http.ResponseWriter, r *http.Request, scope func(*db.Tx, *repo.Scope) error) error {
	me := account.CallerFrom(r.Context())
	l := &across{api: api, me: me, at: web.ReadPage(r), scope: scope,
		keepLink: func(total int64) { web.Link(w, r, web.ReadPage(r), total) }}
	if err := api.s.db.Read(r.Context(), l.find404); err != nil {
		return err
	}
	var err error
	if l.filter, err = web.QueryEnum(r, Resource, "filter", "assigned", "created", "mentioned", "subscribed", "all"); err != nil {
		return err
	}
	if l.choice, err = readChoice(r); err != nil {
		return err
	}
	return api.answers.ServeAtRest(w, r, web.Key(r, me.ID), l.render)
}

// across is a list across repositories.
type across struct {
	api      *API
	me       *account.Caller
	scope    func(*db.Tx, *repo.Scope) error
	filter   string
	choice   choice
	at       web.Page
	keepLink func(total int64)
}

// find404 makes sure that there is what the address names, before parameters
// are looked at (decision 16).
func (l *across) find404(tx *db.Tx) error { return l.scope(tx, &repo.Scope{Caller: l.me}) }

func (l *across) render(out *web.Output) error {
	ctx := out.Context()
	var p *page
	err := l.api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = newPage(ctx)
		p.repository = map[int64][]byte{}
		q, err := l.query(tx)
		if err != nil {
			return err
		}
		var total int64
		if p.issues, total, err = l.api.s.List(tx, q, l.at.Offset(), l.at.Size); err != nil {
			return err
		}
		tx.OnCommit(func() { l.keepLink(total) })
		if err := p.enter(tx, l.me); err != nil {
			return err
		}
		return p.load(tx)
	})
	if err != nil {
		return err
	}
	if err := l.api.s.prepareBodies(out, p); err != nil {
		return err
	}
	out.Grow(8 << 10 * (len(p.issues) + 1))
	return p.write(out)
}

// enter reads the repositories that the issues of a page are in, which the
// caller was found to see.
func (p *page) enter(tx *db.Tx, caller *account.Caller) error {
	ids := make([]int64, len(p.issues))
	for n, i := range p.issues {
		ids[n] = i.RepoID
	}
	list, err := repo.Accesses(tx, caller, db.Unique(ids))
	for _, a := range list {
		p.repos[a.ID], p.places[a.ID] = a, tracker.NewPlace(p.info, a.Repo)
	}
	return err
}

// query makes the parts of the query, a part a repository in scope.
func (l *across) query(tx *db.Tx) (posting.Query, error) {
	q := posting.Query{States: l.choice.states, Since: l.choice.since, Order: l.choice.order}
	s := repo.Scope{Caller: l.me}
	if err := l.scope(tx, &s); err != nil {
		return q, err
	}
	repos, err := repo.InScope(tx, s)
	if err != nil {
		return q, err
	}
	by := posting.ByAll.Of(0)
	switch l.filter {
	case "assigned":
		by = posting.ByAssignee.Of(l.me.ID)
	case "created":
		by = posting.ByAuthor.Of(l.me.ID)
	case "mentioned":
		by = posting.ByMention.Of(l.me.ID)
	case "subscribed":
		by = posting.BySubscriber.Of(l.me.ID)
	}
	var labels map[int64][]int64
	if len(l.choice.labels) > 0 {
		if labels, err = label.Across(tx, repos, l.choice.labels); err != nil {
			return q, err
		}
	}
	for _, r := range repos {
		part := posting.Part{RepoID: r.ID, Has: []posting.Property{by}, Generation: r.IssuesGeneration}
		if len(labels[r.ID]) < len(l.choice.labels) {
			continue
		}
		for _, id := range labels[r.ID] {
			part.Has = append(part.Has, posting.ByLabel.Of(id))
		}
		if !r.HasIssues { // its pull requests are still there (decision 16)
			part.Has = append(part.Has, posting.ByPull.Of(0))
		}
		q.Parts = append(q.Parts, part)
	}
	return q, nil
}

package issue

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany lists the issues of several repositories, each as GET /repos/{owner}/{repo}/issues shows it. Those
// with issues switched off have none. Errors: [repo.Errors] with 422 for an invalid milestone; 422.
func (s *Service) ListMany(
	ctx context.Context, list []*repo.Access, o ListOptions, at web.Page,
) (map[repo.ID]*web.List[*View], error) {
	var err, failed error
	if o.Labels, err = FoldLabels(o.Labels); err != nil {
		return nil, err
	}
	var p *Page
	var found []foundIn
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p = newViewPage(ctx, list...)
		if found, failed, err = s.findIn(tx, list, o, at); err != nil {
			return err
		}
		for _, f := range found {
			p.Add(f.issues...)
		}
		return p.Load(tx)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), s)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.ID]*web.List[*View]{}
	for _, f := range found {
		l := &web.List[*View]{Total: f.total, More: at.Offset()+at.Size < f.total}
		if l.Rows, err = p.shown(f.issues); err != nil {
			return nil, err
		}
		out[f.repo] = l
	}
	return out, failed
}

// newViewPage is NewPage for views with their reactions.
func newViewPage(ctx context.Context, in ...*repo.Access) *Page {
	p := NewPage(ctx, in...)
	p.p.reactions = true
	return p
}

// shown is Shown for several issues.
func (g *Page) shown(list []*Issue) (views []*View, err error) {
	views = make([]*View, len(list))
	for n, i := range list {
		if views[n], err = g.Shown(i); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// foundIn is a page of the issues of a repository, and how many there are.
type foundIn struct {
	repo   repo.ID
	issues []*Issue
	total  int64
}

// maxTogether is the last row of a list up to which the lists of several repositories are read together.
const maxTogether = 200

// findIn finds a page of the issues of each repository. failed is a [repo.Errors] of those without one.
func (s *Service) findIn(
	tx *db.Tx, list []*repo.Access, o ListOptions, at web.Page,
) (found []foundIn, failed, err error) {
	var ids []repo.ID
	for _, a := range list {
		if a.HasIssues {
			ids = append(ids, a.ID)
		}
	}
	in, failed := o.in(tx, ids)
	if failed != nil && !repo.AreSome(failed) {
		return nil, nil, failed
	}
	var queries []posting.Query
	for _, id := range ids {
		if in[id] != nil {
			found = append(found, foundIn{repo: id})
			queries = append(queries, posting.Query{Repos: []posting.Repo{{ID: id}}, Where: in[id], Order: o.Order})
		}
	}
	pages, each, err := s.FindPages(tx, queries, at)
	for n := range pages {
		found[n].issues, found[n].total = pages[n], each[n].Total
	}
	return found, failed, err
}

// FindPages reads a page of what each query finds.
func (s *Service) FindPages(
	tx *db.Tx, queries []posting.Query, at web.Page,
) ([][]*Issue, []posting.Found, error) {
	if last := at.Offset() + at.Size; len(queries) > 1 && last <= maxTogether {
		lists, found, err := s.FindEach(tx, queries, last)
		for n := range lists {
			lists[n] = lists[n][min(at.Offset(), int64(len(lists[n]))):]
		}
		return lists, found, err
	}
	lists, found := make([][]*Issue, len(queries)), make([]posting.Found, len(queries))
	for n := range queries {
		var err error
		if lists[n], found[n], err = s.Find(tx, queries[n], at.Offset(), at.Size); err != nil {
			return nil, nil, err
		}
	}
	return lists, found, nil
}

// ListHaving lists the issues with each property, such as a label, in its repository. Errors: [repo.Errors] with 422
// for an invalid milestone; 422.
func (s *Service) ListHaving(
	ctx context.Context, kind posting.Kind, list []repo.Of[int64], o ListOptions, at web.Page,
) (map[repo.Of[int64]]*web.List[*View], error) {
	list = slices.DeleteFunc(slices.Clone(list), func(of repo.Of[int64]) bool { return Enabled(of.In.Repo, nil) != nil })
	var err, failed error
	if o.Labels, err = FoldLabels(o.Labels); err != nil {
		return nil, err
	}
	var p *Page
	var chosen []repo.Of[int64]
	var pages [][]*Issue
	var found []posting.Found
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p = newViewPage(ctx, slices.Collect(maps.Values(repo.In(list)))...)
		var in map[repo.ID]posting.And
		in, failed = o.in(tx, slices.Collect(maps.Keys(repo.In(list))))
		if failed != nil && !repo.AreSome(failed) {
			return failed
		}
		var queries []posting.Query
		chosen = nil
		for _, of := range list {
			if in[of.In.ID] != nil {
				chosen = append(chosen, of)
				queries = append(queries, posting.Query{Repos: []posting.Repo{{ID: of.In.ID}}, Order: o.Order,
					Where: posting.And{in[of.In.ID], posting.HasOne(kind.Of(of.Key))}})
			}
		}
		if pages, found, err = s.FindPages(tx, queries, at); err != nil {
			return err
		}
		for _, issues := range pages {
			p.Add(issues...)
		}
		return p.Load(tx)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), s)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*View]{}
	for _, of := range list { // of which some ask for what their repository lacks
		out[of] = &web.List[*View]{}
	}
	for n, of := range chosen {
		l := &web.List[*View]{Total: found[n].Total, More: at.Offset()+at.Size < found[n].Total}
		if l.Rows, err = p.shown(pages[n]); err != nil {
			return nil, err
		}
		out[of] = l
	}
	return out, failed
}

// Numbered loads issues and pull requests by number, as GET /repos/{owner}/{repo}/issues/{number} returns them.
// Unknown numbers, and issues of repositories with issues switched off, are missing.
func (s *Service) Numbered(
	ctx context.Context, list []repo.Of[int64],
) (map[repo.Of[int64]]*View, error) {
	var p *Page
	var found map[repo.Of[int64]]*Issue
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		p = newViewPage(ctx, slices.Collect(maps.Values(repo.In(list)))...)
		if found, err = Numbered(tx, list); err != nil {
			return err
		}
		for of, i := range found {
			if Enabled(of.In.Repo, i) != nil {
				delete(found, of)
			} else {
				p.Add(i)
			}
		}
		return p.Load(tx)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), s)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*View{}
	for of, i := range found {
		if out[of], err = p.Shown(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

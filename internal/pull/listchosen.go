package pull

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListOptions selects the pull requests of a list and their order. Zero values select all.
type ListOptions struct {
	States     []string // OPEN, CLOSED, MERGED
	Base, Head string   // names of branches, the head's of any owner
	Labels     []string // names; pull requests must have all of them
	Order      posting.Order
}

// ListMany lists the pull requests of several repositories with their texts, in the order of GET
// /repos/{owner}/{repo}/pulls.
func (api *API) ListMany(
	ctx context.Context, repos []*repo.Access, o ListOptions, at web.Page,
) (map[repo.ID]*web.List[*View], error) {
	out := map[repo.ID]*web.List[*View]{}
	p, err := api.full(web.Unsent(ctx), repos, func(tx *db.Tx) (all []*issue.Issue, err error) {
		queries, err := o.queries(tx, repos)
		if err != nil {
			return nil, err
		}
		lists, found, err := api.s.issues.FindPages(tx, queries, at)
		for n := range lists {
			total := found[n].Total
			out[repos[n].ID] = &web.List[*View]{Total: total, More: at.Number*at.Size < total}
			all = append(all, lists[n]...)
		}
		return all, err
	})
	if err != nil {
		return nil, err
	}
	for _, i := range p.Issues() {
		shown, err := p.shown(i)
		if err != nil {
			return nil, err
		}
		out[i.RepoID].Rows = append(out[i.RepoID].Rows, shown)
	}
	return out, nil
}

// ListHaving lists the pull requests with each property, such as a label or branch, in its repository.
func (api *API) ListHaving(
	ctx context.Context, kind posting.Kind, list []repo.Of[int64], o ListOptions, at web.Page,
) (map[repo.Of[int64]]*web.List[*View], error) {
	var pages [][]*issue.Issue
	var found []posting.Found
	in := slices.Collect(maps.Values(repo.In(list)))
	p, err := api.full(web.Unsent(ctx), in, func(tx *db.Tx) ([]*issue.Issue, error) {
		ofRepos, err := o.queries(tx, in)
		if err != nil {
			return nil, err
		}
		of := map[repo.ID]posting.Query{}
		for n, a := range in {
			of[a.ID] = ofRepos[n]
		}
		queries := make([]posting.Query, len(list))
		for n, one := range list {
			queries[n] = of[one.In.ID]
			queries[n].Where = posting.And{queries[n].Where, posting.HasOne(kind.Of(one.Key))}
		}
		pages, found, err = api.s.issues.FindPages(tx, queries, at)
		return slices.Concat(pages...), err
	})
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*View]{}
	for n, of := range list {
		l := &web.List[*View]{Total: found[n].Total, More: at.Offset()+at.Size < found[n].Total}
		for _, i := range pages[n] {
			shown, err := p.shown(i)
			if err != nil {
				return nil, err
			}
			l.Rows = append(l.Rows, shown)
		}
		out[of] = l
	}
	return out, nil
}

// ListFrom lists the pull requests from branches of repositories into these repositories, see ListHaving.
func (api *API) ListFrom(
	ctx context.Context, list []repo.Of[string], o ListOptions, at web.Page,
) (map[repo.Of[string]]*web.List[*View], error) {
	ids, err := db.Get(ctx, api.s.db, func(tx *db.Tx) (map[repo.Of[string]]int64, error) {
		return headBranches(tx, list)
	})
	if err != nil {
		return nil, err
	}
	var having []repo.Of[int64]
	out := map[repo.Of[string]]*web.List[*View]{}
	for _, of := range list {
		if out[of] = new(web.List[*View]); ids[of] != 0 {
			having = append(having, repo.Of[int64]{In: of.In, Key: ids[of]})
		}
	}
	found, err := api.ListHaving(ctx, posting.ByBranch, having, o, at)
	for _, of := range list {
		if l := found[repo.Of[int64]{In: of.In, Key: ids[of]}]; l != nil {
			out[of] = l
		}
	}
	return out, err
}

// queries returns the query of each repository.
func (o *ListOptions) queries(tx *db.Tx, repos []*repo.Access) ([]posting.Query, error) {
	bases, err := branchesNamed(tx, repos, o.Base, true)
	if err != nil {
		return nil, err
	}
	heads, err := branchesNamed(tx, repos, o.Head, false)
	if err != nil {
		return nil, err
	}
	names, err := issue.FoldLabels(o.Labels)
	if err != nil {
		return nil, err
	}
	labels, err := label.NamedIn(tx, slices.Collect(maps.Keys(repo.InList(repos))), names)
	if err != nil {
		return nil, err
	}
	queries := make([]posting.Query, len(repos))
	for n, a := range repos {
		where := posting.And{posting.HasOne(posting.ByPull.Of(0)), inStates(o.States)}
		if o.Base != "" {
			where = append(where, posting.Has{Kind: posting.ByBranch, Values: bases[a.ID]})
		}
		if o.Head != "" {
			where = append(where, posting.Has{Kind: posting.ByBranch, Values: heads[a.ID]})
		}
		for _, name := range names {
			if l := labels[a.ID][name]; l != nil {
				where = append(where, posting.HasOne(posting.ByLabel.Of(l.ID)))
			} else {
				where = append(where, posting.Or{}) // none
			}
		}
		queries[n] = posting.Query{Repos: []posting.Repo{{ID: a.ID}}, Where: where, Order: o.Order}
	}
	return queries, nil
}

// inStates returns the condition for states. No states means all.
func inStates(names []string) posting.Expr {
	if len(names) == 0 {
		return posting.And{}
	}
	merged := posting.Between{Field: posting.MergedAt, From: 1, To: int64(^uint64(0) >> 1)}
	var states posting.Or
	for _, name := range names {
		switch name {
		case "OPEN":
			states = append(states, posting.InState(issuekit.Open))
		case "CLOSED":
			states = append(states, posting.And{posting.InState(issuekit.Closed), posting.Not{Expr: merged}})
		case "MERGED":
			states = append(states, merged)
		}
	}
	return states
}

// Numbered loads pull requests by number with their texts. Unknown numbers are omitted. Of a single one a
// missing test merge is made first, as in GET /repos/{owner}/{repo}/pulls/{number}.
func (api *API) Numbered(ctx context.Context, pulls []repo.Of[int64]) (map[repo.Of[int64]]*View, error) {
	if len(pulls) == 1 {
		p, _, err := api.s.Find(ctx, pulls[0].In, pulls[0].Key)
		if err == nil && p.untested() {
			err = api.s.test(ctx, p)
		}
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	in := repo.In(pulls)
	p, err := api.full(web.Unsent(ctx), slices.Collect(maps.Values(in)), func(tx *db.Tx) ([]*issue.Issue, error) {
		found, err := Numbered(tx, pulls)
		return slices.Collect(maps.Values(found)), err
	})
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*View{}
	for _, i := range p.Issues() {
		if out[repo.Of[int64]{In: in[i.RepoID], Key: i.Number}], err = p.shown(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// full returns a page of pull requests in their full form, loaded with a fixed number of queries.
func (api *API) full(
	out *web.Output, in []*repo.Access, find func(tx *db.Tx) ([]*issue.Issue, error),
) (*page, error) {
	p, err := api.s.readPage(out.Context(), whole, in, find)
	if err == nil {
		err = p.Bodies(out, api.s.issues)
	}
	return p, err
}

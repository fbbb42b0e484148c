package comment

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany loads a page of the comments of each issue, as in GET
// /repos/{owner}/{repo}/issues/{number}/comments. Unknown and disabled issues have no comments.
func (api *API) ListMany(
	ctx context.Context, list []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*Payload], error) {
	var p *Page
	in, out := repo.In(list), map[repo.Of[int64]]*web.List[*Payload]{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, slices.Collect(maps.Values(in))...)
		clear(out)
		found, err := issue.Numbered(tx, list)
		if err != nil {
			return err
		}
		var ids []issue.ID
		for of, i := range found {
			if issue.Enabled(of.In.Repo, i) == nil && i.Comments > 0 {
				ids, out[of] = append(ids, i.ID), &web.List[*Payload]{Total: i.Comments}
			}
		}
		comments, err := firstOf(tx, ids, page.Size+1, page.Offset())
		if err != nil {
			return err
		}
		slices.Sort(comments)
		return p.Load(tx, comments)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s.issues)
	}
	if err != nil {
		return nil, err
	}
	for n, c := range p.comments {
		shown, err := p.payload(n)
		if err != nil {
			return nil, err
		}
		out[repo.Of[int64]{In: in[c.RepoID], Key: c.Number}].Add(page, shown)
	}
	return out, nil
}

// ByIDs loads comments by their ids, each as GET /repos/{owner}/{repo}/issues/comments/{id} shows it. Those that
// are not in the repository, or whose issues are disabled, are omitted.
func (api *API) ByIDs(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]*Payload, error) {
	var p *Page
	in := repo.In(list)
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, slices.Collect(maps.Values(in))...)
		found, err := byIDs(tx, db.Unique(repo.Keys(list)))
		if err != nil {
			return err
		}
		return p.load(tx, slices.DeleteFunc(found, func(c *Comment) bool {
			a := in[c.RepoID]
			return a == nil || issue.Enabled(a.Repo, &issue.Issue{Pull: c.Pull}) != nil
		}))
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s.issues)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*Payload{}
	for n, c := range p.comments {
		if out[repo.Of[int64]{In: in[c.RepoID], Key: c.ID}], err = p.payload(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Written is a comment with the repository in which it is.
type Written struct {
	*Payload
	In *repo.Access
}

// Order is the order of ListBy: by age or by the last change.
type Order struct{ Updated, Desc bool }

// ListBy lists a page of the comments that each of several people wrote in repositories that the caller sees, with a
// fixed number of statements.
func (api *API) ListBy(
	ctx context.Context, caller *account.Caller, authors []account.ID, o Order, at web.Page,
) (map[account.ID]*web.List[Written], error) {
	var found map[account.ID]*db.ListPage[int64]
	var in map[int64]repo.ID
	var repos map[repo.ID]*repo.Access
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if found, err = pageBy(tx, caller, authors, o, at); err != nil {
			return err
		}
		ids := db.ListedIDs(found)
		if in, err = reposOf(tx, ids); err != nil {
			return err
		}
		repos, err = repo.ByIDs(tx, caller, db.Unique(slices.Collect(maps.Values(in))))
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []repo.Of[int64]
	for id, r := range in {
		if repos[r] != nil {
			list = append(list, repo.Of[int64]{In: repos[r], Key: id})
		}
	}
	shown := map[repo.Of[int64]]*Payload{}
	if len(list) > 0 {
		if shown, err = api.ByIDs(ctx, list); err != nil {
			return nil, err
		}
	}
	return web.ListOfEach(at, found, func(r db.ListRow[int64]) (Written, bool) {
		a := repos[in[r.ID]]
		c := shown[repo.Of[int64]{In: a, Key: r.ID}]
		return Written{c, a}, c != nil
	}), nil
}

package comment

import (
	"context"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany loads a page of the comments of each issue, as in GET
// /repos/{owner}/{repo}/issues/{number}/comments. Unknown and disabled issues have no comments.
func (api *API) ListMany(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[*Payload], error) {
	var p *Page
	out := map[int64]*web.List[*Payload]{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, a)
		clear(out)
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range found {
			if issue.Enabled(a.Repo, i) == nil && i.Comments > 0 {
				ids, out[i.Number] = append(ids, i.ID), &web.List[*Payload]{Total: i.Comments}
			}
		}
		comments, err := firstOf(tx, ids, page.Size+1, page.Offset())
		if err != nil {
			return err
		}
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
		out[c.Number].Add(page, shown)
	}
	return out, nil
}

// ByIDs loads comments of the repository by their ids, each as GET /repos/{owner}/{repo}/issues/comments/{id} shows
// it. Those that do not exist, or whose issues are disabled, are omitted.
func (api *API) ByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]*Payload, error) {
	var p *Page
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, a)
		found, err := byIDs(tx, db.Unique(ids))
		if err != nil {
			return err
		}
		return p.load(tx, slices.DeleteFunc(found, func(c *Comment) bool {
			return c.RepoID != a.ID || issue.Enabled(a.Repo, &issue.Issue{Pull: c.Pull}) != nil
		}))
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s.issues)
	}
	if err != nil {
		return nil, err
	}
	out := map[int64]*Payload{}
	for n, c := range p.comments {
		if out[c.ID], err = p.payload(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

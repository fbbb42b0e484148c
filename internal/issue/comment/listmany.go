package comment

import (
	"context"

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

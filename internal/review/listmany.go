package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany loads a page of the reviews of each pull request of the numbers, as GET
// /repos/{owner}/{repo}/pulls/{number}/reviews has them. Pull requests that are not there have none.
func (api *API) ListMany(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[*Payload], error) {
	of := map[issue.ID]int64{}
	var list []*Review
	var totals map[issue.ID]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range found {
			if i.Pull {
				ids, of[i.ID] = append(ids, i.ID), i.Number
			}
		}
		if list, err = firstOf(tx, ids, account.IDOf(a.Caller), page.Size+1, page.Offset()); err != nil {
			return err
		}
		totals, err = countReviews(tx, ids, account.IDOf(a.Caller))
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := api.s.preparedReviews(web.Unsent(ctx), a, list)
	if err != nil {
		return nil, err
	}
	out := map[int64]*web.List[*Payload]{}
	for id, number := range of {
		out[number] = &web.List[*Payload]{Total: totals[id]}
	}
	for n, v := range list {
		number := of[v.IssueID]
		shown, err := p.review(n, v, number, v.State.String())
		if err != nil {
			return nil, err
		}
		out[number].Add(page, shown)
	}
	return out, nil
}

// ByIDs loads reviews by id. Reviews of other repositories and those that are not visible to the caller are
// missing.
func (api *API) ByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]*Payload, error) {
	var list []*Review
	of := map[issue.ID]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = reviewsByIDs(tx, a.ID, account.IDOf(a.Caller), db.Unique(ids)); err != nil {
			return err
		}
		pulls := make([]issue.ID, len(list))
		for n, v := range list {
			pulls[n] = v.IssueID
		}
		issues, err := issue.ByIDs(tx, db.Unique(pulls))
		for _, i := range issues {
			of[i.ID] = i.Number
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := api.s.preparedReviews(web.Unsent(ctx), a, list)
	if err != nil {
		return nil, err
	}
	out := map[int64]*Payload{}
	for n, v := range list {
		if out[v.ID], err = p.review(n, v, of[v.IssueID], v.State.String()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

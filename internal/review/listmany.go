package review

import (
	"context"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// ListMany loads a page of the reviews of each pull request of the numbers, as GET
// /repos/{owner}/{repo}/pulls/{number}/reviews has them. Pull requests that are not there have none.
func (api *API) ListMany(
	ctx context.Context, pulls []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*Payload], error) {
	p := pageOf(ctx, pulls)
	of := map[issue.ID]repo.Of[int64]{}
	var list []*Review
	var totals map[issue.ID]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := pull.Numbered(tx, pulls)
		if err != nil {
			return err
		}
		var ids []issue.ID
		for at, i := range found {
			ids, of[i.ID] = append(ids, i.ID), at
		}
		if list, err = firstOf(tx, ids, p.caller(), page.Size+1, page.Offset()); err != nil {
			return err
		}
		totals, err = countReviews(tx, ids, p.caller())
		return err
	})
	if err == nil {
		err = api.s.prepareReviews(web.Unsent(ctx), p, list)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*Payload]{}
	for id, at := range of {
		out[at] = &web.List[*Payload]{Total: totals[id]}
	}
	for n, v := range list {
		at := of[v.IssueID]
		shown, err := p.review(n, v, at.Key, v.State.String())
		if err != nil {
			return nil, err
		}
		out[at].Add(page, shown)
	}
	return out, nil
}

// ByIDs loads reviews by id. Reviews of other repositories and those that are not visible to the caller are
// missing.
func (api *API) ByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*Payload, error) {
	p := pageOf(ctx, ids)
	var list []*Review
	of := map[issue.ID]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = reviewsByIDs(tx, p.caller(), db.Unique(repo.Keys(ids))); err != nil {
			return err
		}
		list = inside(p, list, func(v *Review) repo.ID { return v.RepoID })
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
	if err == nil {
		err = api.s.prepareReviews(web.Unsent(ctx), p, list)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*Payload{}
	for n, v := range list {
		at := repo.Of[int64]{In: p.in[v.RepoID], Key: v.ID}
		if out[at], err = p.review(n, v, of[v.IssueID], v.State.String()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inside returns those of the rows that are in the page's repositories.
func inside[R any](p *page, list []R, of func(R) repo.ID) []R {
	return slices.DeleteFunc(list, func(row R) bool { return p.in[of(row)] == nil })
}

// TeamsOf returns the teams that reviews answered: whose review was requested, with the author among their members.
// Whether the caller sees them is not asked.
func (api *API) TeamsOf(
	ctx context.Context, reviews []repo.Of[int64],
) (found map[repo.Of[int64]][]team.ID, err error) {
	in := repo.In(reviews)
	err = api.s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[repo.Of[int64]][]team.ID{}
		return teamsOfReviews(tx, db.Unique(repo.Keys(reviews)), func(id repo.ID, review int64, t team.ID) {
			if a := in[id]; a != nil {
				of := repo.Of[int64]{In: a, Key: review}
				found[of] = append(found[of], t)
			}
		})
	})
	return found, err
}

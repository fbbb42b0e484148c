package timeline

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany loads a page of the timeline of each issue or pull request, as in GET
// /repos/{owner}/{repo}/issues/{number}/timeline. Unknown and disabled issues have no entries. Error: 422
// for a page beyond the first 5,000 entries.
func (api *API) ListMany(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[any], error) {
	if err := checkDeep(page); err != nil {
		return nil, err
	}
	var t *timeline
	var entries []entryOf
	lists, out := map[issue.ID]*web.List[any]{}, map[int64]*web.List[any]{}
	err := api.db.Read(ctx, func(tx *db.Tx) error {
		t = &timeline{comments: comment.NewPage(ctx, a)}
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range found {
			if issue.Enabled(a.Repo, i) == nil {
				ids = append(ids, i.ID)
				lists[i.ID] = &web.List[any]{}
				out[i.Number] = lists[i.ID]
			}
		}
		if entries, err = readTimelines(tx, a, ids, page); err != nil {
			return err
		}
		for _, e := range entries {
			t.entries = append(t.entries, e.entry)
		}
		return t.read(ctx, tx, a, api.reviews)
	})
	if err == nil {
		err = t.prepare(web.Unsent(ctx), api, a)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		shown, err := t.payload(e.entry)
		if err != nil {
			return nil, err
		}
		lists[e.issueID].Add(page, shown)
	}
	return out, nil
}

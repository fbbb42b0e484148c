package timeline

import (
	"context"
	"maps"
	"slices"

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
	ctx context.Context, list []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*Shown], error) {
	if err := checkDeep(page); err != nil {
		return nil, err
	}
	var t *timeline
	var entries []entryOf
	in, lists, out := repo.In(list), map[issue.ID]*web.List[*Shown]{}, map[repo.Of[int64]]*web.List[*Shown]{}
	err := api.db.Read(ctx, func(tx *db.Tx) error {
		t = &timeline{comments: comment.NewPage(ctx, slices.Collect(maps.Values(in))...)}
		found, err := issue.Numbered(tx, list)
		if err != nil {
			return err
		}
		var issues []repo.Of[issue.ID]
		for of, i := range found {
			if issue.Enabled(of.In.Repo, i) == nil {
				issues = append(issues, repo.Of[issue.ID]{In: of.In, Key: i.ID})
				lists[i.ID] = &web.List[*Shown]{}
				out[of] = lists[i.ID]
			}
		}
		if entries, err = readTimelines(tx, issues, page); err != nil {
			return err
		}
		for _, e := range entries {
			t.entries = append(t.entries, e.entry)
		}
		return t.read(ctx, tx, in, api.reviews)
	})
	if err == nil {
		err = t.prepare(web.Unsent(ctx), api)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		shown, err := t.shown(e.entry)
		if err != nil {
			return nil, err
		}
		lists[e.issueID].Add(page, shown)
	}
	return out, nil
}

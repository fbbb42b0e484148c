package milestone

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Numbered loads milestones by their numbers. Those that do not exist are omitted.
func (api *API) Numbered(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]*View, error) {
	var found []*View
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		milestones, err := byNumbers(tx, list)
		if err == nil {
			found, err = views(tx, milestones)
		}
		return err
	})
	in, out := repo.In(list), map[repo.Of[int64]]*View{}
	for _, v := range found {
		a := in[v.RepoID]
		out[repo.Of[int64]{In: a, Key: v.Number}] = v
	}
	return out, err
}

// ListMany loads a page of the milestones of each repository by their due dates, as in GET
// /repos/{owner}/{repo}/milestones. State 0 selects all.
func (api *API) ListMany(
	ctx context.Context, repos []*repo.Access, state issuekit.State, page web.Page,
) (map[repo.ID]*web.List[*View], error) {
	var found []*View
	var totals map[repo.ID]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if totals, err = counts(tx, repo.IDsOf(repos), state); err != nil {
			return err
		}
		list, err := listMany(tx, repo.IDsOf(repos), state, page)
		if err == nil {
			found, err = views(tx, list)
		}
		return err
	})
	out := map[repo.ID]*web.List[*View]{}
	for _, a := range repos {
		out[a.ID] = &web.List[*View]{Total: totals[a.ID], More: page.Offset()+page.Size < totals[a.ID]}
	}
	for _, v := range found {
		out[v.RepoID].Rows = append(out[v.RepoID].Rows, v)
	}
	return out, err
}

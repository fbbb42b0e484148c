package release

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ByIDs loads the releases of the ids, each as GET /repos/{owner}/{repo}/releases/{release_id} shows it. Those that
// are not in the repository, or that the caller cannot see, are omitted.
func (api *API) ByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]any, error) {
	var p *Page
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := byIDs(tx, a.ID, db.Unique(ids))
		if err != nil {
			return err
		}
		var list []*Release
		for _, r := range found {
			if !r.Draft || seesDrafts(a) {
				list = append(list, r)
			}
		}
		p, err = loadPage(ctx, tx, map[repo.ID]*repo.Access{a.ID: a}, list)
		return err
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s.issues)
	}
	if err != nil {
		return nil, err
	}
	out := map[int64]any{}
	for n, r := range p.list {
		if out[r.ID], err = p.payload(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

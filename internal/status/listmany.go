package status

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMany is the number of commits in one request.
const maxMany = 100

// Latest loads the latest status of each context with its creator, for several commits, at most size for
// each, and their total numbers. The caller must have access to the commits.
func (api *API) Latest(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[Payload], error) {
	return api.latest(ctx, a, shas, size, true)
}

// ByIDs loads statuses of the repository by their ids, with their creators. Those that are not there are missing.
// Their commits were found for the caller before.
func (api *API) ByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]Payload, error) {
	var list []*Status
	var people map[account.ID]*account.Account
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = byIDs(tx, a.ID, db.Unique(ids))
		if err != nil {
			return err
		}
		by := make([]account.ID, len(list))
		for n, s := range list {
			by[n] = s.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(by))
		return err
	})
	info, out := web.From(ctx), map[int64]Payload{}
	for _, s := range list {
		out[s.ID] = newPayload(s, people[s.CreatorID], place(info, a), info)
	}
	return out, err
}

func (api *API) latest(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64, creators bool,
) (map[git.SHA]*web.List[Payload], error) {
	var list []*Status
	var sums map[git.SHA]Summary
	var people map[account.ID]*account.Account
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if sums, err = Combined(tx, a.ID, shas...); err != nil {
			return err
		}
		if list, err = latestOfMany(tx, a.ID, shas, size); err != nil || !creators {
			return err
		}
		by := make([]account.ID, len(list))
		for n, s := range list {
			by[n] = s.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(by))
		return err
	})
	if err != nil {
		return nil, err
	}
	info, out := web.From(ctx), map[git.SHA]*web.List[Payload]{}
	for _, sha := range shas {
		out[sha] = &web.List[Payload]{Rows: []Payload{}, Total: sums[sha].Contexts}
	}
	for _, s := range list {
		out[s.SHA].Rows = append(out[s.SHA].Rows, newPayload(s, people[s.CreatorID], place(info, a), info))
	}
	return out, nil
}

// CombineMany returns the latest statuses of the commits in the parameter shas for pages: for each an
// object with statuses and total_count, as on the first page of GET
// /repos/{owner}/{repo}/commits/{ref...}/status.
func (api *API) CombineMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	found, err := api.latest(r.Context(), a, shas, web.ReadPageSize(r), false)
	if err != nil {
		return err
	}
	type combined struct {
		Statuses []Payload `json:"statuses"`
		Total    int64     `json:"total_count"`
	}
	out := map[git.SHA]combined{}
	for sha, list := range found {
		out[sha] = combined{list.Rows, list.Total}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

package status

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// LatestOfEach reads the latest statuses of each of the commits by context, the first so many. The commits were found
// for the caller before.
func (s *Service) LatestOfEach(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (list []*Status, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = latestOfMany(tx, a.ID, shas, size)
		return err
	})
	return list, err
}

// Latest loads the latest status of each context with its creator, for several commits, at most size for
// each, and their total numbers. The caller must have access to the commits.
func (api *API) Latest(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[Payload], error) {
	var list []*Status
	var sums map[git.SHA]Summary
	var people map[account.ID]*account.Account
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if sums, err = Combined(tx, a.ID, shas...); err != nil {
			return err
		}
		if list, err = latestOfMany(tx, a.ID, shas, size); err != nil {
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

// ByIDs loads statuses of the repository by their ids, with their creators. Those that do not exist are omitted.
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

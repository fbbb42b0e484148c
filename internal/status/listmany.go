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
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Status, error) {
		return latestOfMany(tx, repo.AllOf(a, shas), web.Page{Number: 1, Size: size})
	})
}

// Latest loads a page of the latest statuses of each of several commits by context, with their creators, and
// how many contexts each commit has. The commits were found for the caller before.
func (api *API) Latest(
	ctx context.Context, commits []repo.Of[git.SHA], page web.Page,
) (map[repo.Of[git.SHA]]*web.List[Payload], error) {
	var sums map[repo.Of[git.SHA]]Summary
	list, err := api.load(ctx, repo.In(commits), func(tx *db.Tx) (list []*Status, err error) {
		if sums, err = Combined(tx, commits); err != nil || len(sums) == 0 {
			return nil, err
		}
		return latestOfMany(tx, commits, page)
	})
	out := map[repo.Of[git.SHA]]*web.List[Payload]{}
	for _, c := range commits {
		total := sums[c].Contexts
		out[c] = &web.List[Payload]{Total: total, More: page.Number*page.Size < total}
	}
	for _, s := range list {
		of := out[repo.Of[git.SHA]{In: s.in, Key: s.SHA}]
		of.Rows = append(of.Rows, s.Payload)
	}
	return out, err
}

// ByIDs loads statuses by their ids, with their creators. Those that are not in the repository are omitted.
// Their commits were found for the caller before.
func (api *API) ByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]Payload, error) {
	list, err := api.load(ctx, repo.In(ids), func(tx *db.Tx) ([]*Status, error) {
		return byIDs(tx, db.Unique(repo.Keys(ids)))
	})
	out := map[repo.Of[int64]]Payload{}
	for _, s := range list {
		out[repo.Of[int64]{In: s.in, Key: s.ID}] = s.Payload
	}
	return out, err
}

// shown is a rendered status.
type shown struct {
	Payload
	in  *repo.Access
	SHA git.SHA
}

// load renders the statuses that find reads, as far as they are in the repositories.
func (api *API) load(
	ctx context.Context, in map[repo.ID]*repo.Access, find func(tx *db.Tx) ([]*Status, error),
) (out []shown, err error) {
	var list []*Status
	var people map[account.ID]*account.Account
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = find(tx); err != nil {
			return err
		}
		by := make([]account.ID, len(list))
		for n, s := range list {
			by[n] = s.CreatorID
		}
		people, err = account.ByIDs(tx, db.Unique(by))
		return err
	})
	info := web.From(ctx)
	for _, s := range list {
		if a := in[s.RepoID]; a != nil {
			out = append(out, shown{newPayload(s, people[s.CreatorID], place(info, a), info), a, s.SHA})
		}
	}
	return out, err
}

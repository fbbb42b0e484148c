package release

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListMany loads a page of the releases of each repository, as GET /repos/{owner}/{repo}/releases lists them.
func (api *API) ListMany(
	ctx context.Context, repos []*repo.Access, page web.Page,
) (map[repo.ID]*web.List[*Payload], error) {
	out := map[repo.ID]*web.List[*Payload]{}
	var totals map[repo.ID]int64
	err := api.load(ctx, repo.InList(repos), func(tx *db.Tx) (list []*Release, err error) {
		if totals, err = countsOf(tx, repos); err != nil {
			return nil, err
		}
		return listsOf(tx, repos, page)
	}, func(r *Release, shown *Payload) {
		if out[r.RepoID] == nil {
			out[r.RepoID] = &web.List[*Payload]{}
		}
		out[r.RepoID].Rows = append(out[r.RepoID].Rows, shown)
	})
	for _, a := range repos {
		if out[a.ID] == nil {
			out[a.ID] = &web.List[*Payload]{}
		}
		out[a.ID].Total = totals[a.ID]
		out[a.ID].More = page.Number*page.Size < totals[a.ID]
	}
	return out, err
}

// ByIDs loads the releases of the ids, each as GET /repos/{owner}/{repo}/releases/{release_id} shows it. Those that
// are not in the repository, or that the caller cannot see, are omitted.
func (api *API) ByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*Payload, error) {
	in, out := repo.In(ids), map[repo.Of[int64]]*Payload{}
	err := api.load(ctx, in, func(tx *db.Tx) ([]*Release, error) {
		return byIDs(tx, db.Unique(repo.Keys(ids)))
	}, func(r *Release, shown *Payload) { out[repo.Of[int64]{In: in[r.RepoID], Key: r.ID}] = shown })
	return out, err
}

// ByTags loads the releases of tags. With push access a draft counts where no published release has the tag,
// the newest of them. Tags without a release are omitted.
func (api *API) ByTags(ctx context.Context, tags []repo.Of[string]) (map[repo.Of[string]]*Payload, error) {
	in, out := repo.In(tags), map[repo.Of[string]]*Payload{}
	err := api.load(ctx, in, func(tx *db.Tx) ([]*Release, error) { return byTags(tx, tags) },
		func(r *Release, shown *Payload) { // drafts come first, the oldest of them
			out[repo.Of[string]{In: in[r.RepoID], Key: r.Tag}] = shown
		})
	return out, err
}

// Latest loads the latest release of each repository that has one.
func (api *API) Latest(ctx context.Context, repos []*repo.Access) (map[repo.ID]*Payload, error) {
	out := map[repo.ID]*Payload{}
	err := api.load(ctx, repo.InList(repos), func(tx *db.Tx) ([]*Release, error) { return latestOfMany(tx, repos) },
		func(r *Release, shown *Payload) { out[r.RepoID] = shown })
	return out, err
}

// load renders the releases that find reads, as far as the caller may see them, and calls show with each.
func (api *API) load(ctx context.Context, in map[repo.ID]*repo.Access, find func(tx *db.Tx) ([]*Release, error),
	show func(r *Release, shown *Payload)) error {
	var p *Page
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := find(tx)
		if err != nil {
			return err
		}
		var list []*Release
		for _, r := range found {
			if a := in[r.RepoID]; a != nil && (!r.Draft || seesDrafts(a)) {
				list = append(list, r)
			}
		}
		p, err = loadPage(ctx, tx, in, list)
		return err
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s.issues)
	}
	if err != nil {
		return err
	}
	for n, r := range p.list {
		shown, err := p.payload(n)
		if err != nil {
			return err
		}
		show(r, shown)
	}
	return nil
}

package label

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Named loads labels by name, ignoring case. It omits names without a label.
func (api *API) Named(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]*Payload, error) {
	names := slices.DeleteFunc(repo.Keys(list), func(name string) bool {
		return !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0
	})
	for n := range names {
		names[n] = Fold(names[n])
	}
	in, out := repo.In(list), map[repo.Of[string]]*Payload{}
	var found map[repo.ID]map[string]*Label
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		slices.Sort(names)
		found, err = NamedIn(tx, idsOf(in), slices.Compact(names))
		return err
	})
	info := web.From(ctx)
	for _, of := range list {
		if l := found[of.In.ID][Fold(of.Key)]; l != nil {
			out[of] = NewPayload(l, issuekit.NewAddresses(info, of.In.Repo))
		}
	}
	return out, err
}

// ListMany loads a page of the labels of each repository, as in GET /repos/{owner}/{repo}/labels.
func (api *API) ListMany(
	ctx context.Context, repos []*repo.Access, page web.Page,
) (map[repo.ID]*web.List[*Payload], error) {
	var list []*Label
	totals := map[repo.ID]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if totals, err = counts(tx, repo.IDsOf(repos)); err == nil {
			list, err = listMany(tx, repo.IDsOf(repos), page)
		}
		return err
	})
	info, in, out := web.From(ctx), repo.InList(repos), map[repo.ID]*web.List[*Payload]{}
	for _, a := range repos {
		out[a.ID] = &web.List[*Payload]{Total: totals[a.ID], More: page.Offset()+page.Size < totals[a.ID]}
	}
	for _, l := range list {
		out[l.RepoID].Rows = append(out[l.RepoID].Rows, NewPayload(l, issuekit.NewAddresses(info, in[l.RepoID].Repo)))
	}
	return out, err
}

func idsOf(in map[repo.ID]*repo.Access) (ids []repo.ID) {
	for id := range in {
		ids = append(ids, id)
	}
	return ids
}

package label

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Named loads labels by name, ignoring case. It omits names without a label.
func (api *API) Named(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]*Label, error) {
	names := slices.DeleteFunc(repo.Keys(list), func(name string) bool {
		return !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0
	})
	for n := range names {
		names[n] = Fold(names[n])
	}
	in, out := repo.In(list), map[repo.Of[string]]*Label{}
	var found map[repo.ID]map[string]*Label
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		slices.Sort(names)
		found, err = NamedIn(tx, idsOf(in), slices.Compact(names))
		return err
	})
	for _, of := range list {
		if l := found[of.In.ID][Fold(of.Key)]; l != nil {
			out[of] = l
		}
	}
	return out, err
}

// ListMany loads a page of the labels of each repository, as in GET /repos/{owner}/{repo}/labels.
func (api *API) ListMany(
	ctx context.Context, repos []*repo.Access, page web.Page,
) (map[repo.ID]*web.List[*Label], error) {
	var list []*Label
	totals := map[repo.ID]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if totals, err = counts(tx, repo.IDsOf(repos)); err == nil {
			list, err = listMany(tx, repo.IDsOf(repos), page)
		}
		return err
	})
	out := map[repo.ID]*web.List[*Label]{}
	for _, a := range repos {
		out[a.ID] = &web.List[*Label]{Total: totals[a.ID], More: page.Offset()+page.Size < totals[a.ID]}
	}
	for _, l := range list {
		out[l.RepoID].Rows = append(out[l.RepoID].Rows, l)
	}
	return out, err
}

func idsOf(in map[repo.ID]*repo.Access) (ids []repo.ID) {
	for id := range in {
		ids = append(ids, id)
	}
	return ids
}

package gitdata

import (
	"context"
	"slices"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// The loaders here read what GraphQL shows of many things of a repository at one time.

// CommitsOf loads commits as lists show them. They were found for the caller before, and may repeat.
func (api *API) CommitsOf(
	ctx context.Context, a *repo.Access, shas []git.SHA,
) (map[git.SHA]*CommitPayload, error) {
	shas = slices.Compact(slices.Sorted(slices.Values(shas)))
	out := make(map[git.SHA]*CommitPayload, len(shas))
	err := api.eachCommit(ctx, web.Unsent(ctx), a, shas, func(n int, c *CommitPayload) error {
		out[shas[n]] = c
		return nil
	})
	return out, err
}

// Histories lists a page of the history behind each of the commits, as GET /repos/{owner}/{repo}/commits does with
// the parameters that get returns. Commits that the caller does not see are missing. Error: 422.
func (api *API) Histories(
	ctx context.Context, a *repo.Access, tips []git.SHA, get func(name string) string, at web.Page,
) (map[git.SHA]*web.List[*CommitPayload], error) {
	h, err := readHistory(get)
	if err != nil {
		return nil, err
	}
	known, err := api.Known(ctx, a, tips, git.TypeCommit)
	if err != nil {
		return nil, err
	}
	pages, out := map[git.SHA][]git.SHA{}, map[git.SHA]*web.List[*CommitPayload]{}
	var all []git.SHA
	for _, tip := range known {
		h.From = string(tip)
		found, err := api.walk(ctx, a, h, at)
		if err != nil {
			return nil, err
		}
		list := &web.List[*CommitPayload]{Total: int64(found.total)}
		list.More = found.open || at.Offset()+int64(len(found.shas)) < list.Total
		pages[tip], out[tip], all = found.shas, list, append(all, found.shas...)
	}
	commits, err := api.CommitsOf(ctx, a, all)
	for tip, shas := range pages {
		for _, sha := range shas {
			out[tip].Rows = append(out[tip].Rows, commits[sha])
		}
	}
	return out, err
}

// FilesOf lists a page of the files that changed since the merge base, without patches.
func (api *API) FilesOf(
	ctx context.Context, a *repo.Access, g Range, at web.Page,
) (*web.List[*ChangedFile], error) {
	changes, err := api.rangeChanges(ctx, a, g, at, 1) // no patch has one byte
	if err != nil {
		return nil, err
	}
	p, list := newPlace(ctx, a), &web.List[*ChangedFile]{Total: int64(min(changes.Total, diff.MaxFiles)), More: changes.More(at)}
	for n := range changes.Files {
		list.Rows = append(list.Rows, p.file(&changes.Files[n], changes.To, changes.From))
	}
	return list, nil
}

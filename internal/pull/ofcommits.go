package pull

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// NumbersOfCommits returns for each commit the numbers of the pull requests that GET
// /repos/{owner}/{repo}/commits/{ref...}/pulls lists, oldest first. Commits that are not visible to the
// caller have none.
func (api *API) NumbersOfCommits(
	ctx context.Context, commits []repo.Of[git.SHA],
) (map[repo.Of[git.SHA]][]int64, error) {
	out := map[repo.Of[git.SHA]][]int64{}
	known, err := api.git.Known(ctx, commits, git.TypeCommit)
	if err != nil || len(known) == 0 {
		return out, err
	}
	var list []ofOne
	tips := map[repo.ID]git.SHA{}
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = ofCommits(tx, known); err != nil {
			return err
		}
		tips, err = repo.DefaultTips(tx, slices.Collect(maps.Keys(repo.In(known))))
		return err
	})
	if err != nil {
		return nil, err
	}
	landed := map[repo.Of[git.SHA]]bool{}
	for _, p := range list {
		if tip := tips[p.of.In.ID]; !p.merged && tip != "" {
			if _, asked := landed[p.of]; !asked {
				if landed[p.of], err = api.hasLanded(ctx, p.of, tip); err != nil {
					return nil, err
				}
			}
		}
		if p.merged || !landed[p.of] {
			out[p.of] = append(out[p.of], p.number)
		}
	}
	return out, nil
}

// hasLanded reports whether a commit is in the history of a branch's tip.
func (api *API) hasLanded(ctx context.Context, of repo.Of[git.SHA], tip git.SHA) (bool, error) {
	objects, release, err := api.s.repos.Git(ctx, of.In)
	if err != nil {
		return false, err
	}
	defer release()
	there, err := objects.IsAncestor(ctx, of.Key, tip)
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return there, err
}

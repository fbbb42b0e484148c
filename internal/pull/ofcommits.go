package pull

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// NumbersOfCommits returns for each commit the numbers of the pull requests that GET
// /repos/{owner}/{repo}/commits/{ref...}/pulls lists, oldest first. Commits that are not visible to the
// caller have none.
func (api *API) NumbersOfCommits(
	ctx context.Context, a *repo.Access, commits []git.SHA,
) (map[git.SHA][]int64, error) {
	out := map[git.SHA][]int64{}
	shas, err := api.git.Known(ctx, a, commits, git.TypeCommit)
	if err != nil || len(shas) == 0 {
		return out, err
	}
	var list []ofOne
	var tip git.SHA
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = ofCommits(tx, a.ID, shas); err != nil {
			return err
		}
		tip, err = repo.BranchTip(tx, a.ID, a.DefaultBranch)
		return err
	})
	if err != nil {
		return nil, err
	}
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	landed := map[git.SHA]bool{}
	for _, p := range list {
		if _, asked := landed[p.sha]; !p.merged && !asked && tip != "" {
			there, err := objects.IsAncestor(ctx, p.sha, tip)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return nil, err
			}
			landed[p.sha] = there
		}
		if p.merged || !landed[p.sha] {
			out[p.sha] = append(out[p.sha], p.number)
		}
	}
	return out, nil
}

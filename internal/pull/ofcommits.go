package pull

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// NumbersOfCommits answers the numbers of the pull requests that GET
// /repos/{owner}/{repo}/commits/{ref...}/pulls has for each of the commits of the parameter shas, the oldest
// first: for GraphQL, which asks for many at a time.
func (api *API) NumbersOfCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas, err := api.git.Chosen(r, a, git.TypeCommit)
	if err != nil {
		return err
	}
	out := map[git.SHA][]int64{}
	if len(shas) == 0 {
		return web.JSON(w, r, http.StatusOK, out)
	}
	var list []ofOne
	var tip git.SHA
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, err = ofCommits(tx, a.ID, shas); err != nil {
			return err
		}
		tip, err = repo.BranchTip(tx, a.ID, a.DefaultBranch)
		return err
	})
	if err != nil {
		return err
	}
	objects, release, err := api.s.repos.Git(r.Context(), a)
	if err != nil {
		return err
	}
	defer release()
	landed := map[git.SHA]bool{}
	for _, p := range list {
		if _, asked := landed[p.sha]; !p.merged && !asked && tip != "" {
			there, err := objects.IsAncestor(r.Context(), p.sha, tip)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			landed[p.sha] = there
		}
		if p.merged || !landed[p.sha] {
			out[p.sha] = append(out[p.sha], p.number)
		}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

package gitdata

import (
	"context"
	"errors"
	"net/http"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Limits of the comparison for one page of branches.
const (
	maxDivergent   = 20_000      // commits
	divergenceTime = time.Second // of git's run time
)

type divergence struct {
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
}

// ListDivergences returns how far the first of the commits in the parameter shas are ahead of and behind
// the commit base, as an object by SHA. Commits that take too long to compare are omitted. It is for pages
// of branches. Error: 422.
func (api *API) ListDivergences(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	base, err := git.ParseSHA(web.QueryOf(r).Get("base"))
	if err != nil {
		return err
	}
	known, err := api.repos.Known(r.Context(), a, []git.SHA{base})
	if err != nil {
		return err
	}
	if len(known) != 1 || known[0].Type != git.TypeCommit {
		return errs.New(errs.Invalid, "base is not a commit")
	}
	shas, err := api.chosen(r, a, git.TypeCommit)
	if err != nil {
		return err
	}
	objects, release, err := api.repos.Git(r.Context(), a)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), divergenceTime)
	defer cancel()
	found, err := history.Divergences(ctx, objects, base, shas, maxDivergent)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && r.Context().Err() == nil {
		err = nil // the page shows the others
	}
	if err != nil {
		return err
	}
	out := map[git.SHA]divergence{}
	for sha, d := range found {
		out[sha] = divergence{d.Ahead, d.Behind}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

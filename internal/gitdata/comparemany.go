package gitdata

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxCompared is how many objects one request compares with a head.
const maxCompared = 100

// divergedJSON is how a head stands to an object.
type divergedJSON struct {
	Ahead  int    `json:"ahead_by"`
	Behind int    `json:"behind_by"`
	Status string `json:"status"`
}

// CompareMany answers how the head of the address stands to each of the objects of the parameter shas, for
// GraphQL: an object by SHA. What leads to no commit, or has no history in common with the head, is missing.
// The objects were found for the caller before. Errors: those of Compare for the head.
func (api *API) CompareMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	c, err := api.comparison(ctx, web.Param(r, "basehead"), a)
	if err == nil {
		c.head.sha, err = api.revision(ctx, c.head.at, c.head.name, true)
	}
	if err != nil {
		return err
	}
	objects, release, err := api.repos.GitOfBoth(ctx, c.head.at, a)
	if err != nil {
		return err
	}
	defer release()
	out := map[git.SHA]divergedJSON{}
	for _, sha := range git.ParseSHAs(web.QueryOf(r).Get("shas"), maxCompared) {
		one := comparison{}
		base, err := objects.PeelToCommit(ctx, sha)
		if err == nil {
			_, err = objects.MergeBase(ctx, base, c.head.sha)
		}
		if err == nil {
			one.behind, one.ahead, _, err = objects.Diverged(ctx, base, c.head.sha, 0, 0)
		}
		switch {
		case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid):
			continue
		case err != nil:
			return err
		}
		out[sha] = divergedJSON{one.ahead, one.behind, one.status()}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

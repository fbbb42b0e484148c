package checkrun

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// maxMany is of how many commits one request asks for the runs.
const maxMany = 100

// ListMany answers the latest runs of the commits of the parameter shas, for GraphQL: for each an object with
// check_runs and total_count, as the first page of GET /repos/{owner}/{repo}/commits/{ref...}/check-runs, but
// without pull requests. The commits were found for the caller before.
func (api *API) ListMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	info := web.From(r.Context())
	v := &view{a: a, info: info, at: tracker.NewPlace(info, a.Repo), pulls: []pullPayload{}}
	var runs []*Run
	var totals map[git.SHA]int64
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if totals, err = countOfMany(tx, a.ID, shas); err != nil {
			return err
		}
		if runs, err = latestOfMany(tx, a.ID, shas, web.ReadPageSize(r)); err != nil {
			return err
		}
		apps := make([]int64, len(runs))
		for n, run := range runs {
			apps[n] = run.AppID
		}
		v.apps, err = api.s.apps.Find(tx, db.Unique(apps)...)
		return err
	})
	if err != nil {
		return err
	}
	type list struct {
		Runs  []*Payload `json:"check_runs"`
		Total int64      `json:"total_count"`
	}
	out := map[git.SHA]*list{}
	for _, sha := range shas {
		out[sha] = &list{Runs: []*Payload{}, Total: totals[sha]}
	}
	for _, run := range runs {
		out[run.SHA].Runs = append(out[run.SHA].Runs, v.run(run))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

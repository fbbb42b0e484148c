package checkrun

import (
	"net/http"

	"arbor/internal/account"
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
// without pull requests. The commits were found for the caller before. A page gets runs without their texts.
func (api *API) ListMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	if web.From(r.Context()).Brief {
		return api.listManyBrief(w, r, a, shas)
	}
	find := func(tx *db.Tx) (totals map[git.SHA]int64, runs []*Run, err error) {
		if totals, err = countOfMany(tx, a.ID, shas); err == nil {
			runs, err = latestOfMany(tx, scanRun, runColumns, a.ID, shas, web.ReadPageSize(r))
		}
		return totals, runs, err
	}
	return answerRuns(api, w, r, a, shas, find, func(run *Run) git.SHA { return run.SHA })
}

// runList is a page of runs, as REST has it.
type runList struct {
	Runs  []*Payload `json:"check_runs"`
	Total int64      `json:"total_count"`
}

// ListManyOfSuites answers the runs of the suites of the parameter ids, for GraphQL: for each an object as
// ListMany's. With filter all there are also those that later ones of their name replaced. Suites that are
// not there have none.
func (api *API) ListManyOfSuites(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	suites := db.Unique(web.ParseNumbers(web.QueryOf(r).Get("ids"), maxMany))
	all := web.QueryOf(r).Get("filter") == "all"
	find := func(tx *db.Tx) (totals map[int64]int64, runs []*Run, err error) {
		if totals, err = countRuns(tx, a.ID, suites, all); err == nil {
			runs, err = runsOfMany(tx, a.ID, suites, all, web.ReadPageSize(r))
		}
		return totals, runs, err
	}
	return answerRuns(api, w, r, a, suites, find, func(run *Run) int64 { return run.SuiteID })
}

// answerRuns answers an object with a list of runs for each key. find reads the runs and how many there are
// in all.
func answerRuns[K comparable](
	api *API, w http.ResponseWriter, r *http.Request, a *repo.Access, keys []K,
	find func(*db.Tx) (totals map[K]int64, runs []*Run, err error), keyOf func(*Run) K,
) error {
	v := newView(r, a)
	var runs []*Run
	var totals map[K]int64
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if totals, runs, err = find(tx); err != nil {
			return err
		}
		apps := make([]account.AppID, len(runs))
		for n, run := range runs {
			apps[n] = run.AppID
		}
		v.apps, err = api.s.apps.Find(tx, db.Unique(apps)...)
		return err
	})
	if err != nil {
		return err
	}
	out := map[K]*runList{}
	for _, key := range keys {
		out[key] = &runList{Runs: []*Payload{}, Total: totals[key]}
	}
	for _, run := range runs {
		of := out[keyOf(run)]
		of.Runs = append(of.Runs, v.run(run))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// ListManySuites answers the suites of the commits of the parameter shas, for GraphQL: for each an object
// with check_suites and total_count, as the first page of GET
// /repos/{owner}/{repo}/commits/{ref...}/check-suites, but without pull requests, repository and commit. The
// commits were found for the caller before.
func (api *API) ListManySuites(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	v := newView(r, a)
	var suites []*Suite
	var totals map[git.SHA]int64
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if totals, err = countSuites(tx, a.ID, shas); err != nil {
			return err
		}
		if suites, err = suitesOfMany(tx, a.ID, shas, web.ReadPageSize(r)); err != nil {
			return err
		}
		apps := make([]account.AppID, len(suites))
		for n, s := range suites {
			apps[n] = s.AppID
		}
		v.apps, err = api.s.apps.Find(tx, db.Unique(apps)...)
		return err
	})
	if err != nil {
		return err
	}
	type list struct {
		Suites []*SuitePayload `json:"check_suites"`
		Total  int64           `json:"total_count"`
	}
	out := map[git.SHA]*list{}
	for _, sha := range shas {
		out[sha] = &list{Suites: []*SuitePayload{}, Total: totals[sha]}
	}
	for _, s := range suites {
		out[s.SHA].Suites = append(out[s.SHA].Suites, v.suite(s))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// newView is a view without Apps and pull requests.
func newView(r *http.Request, a *repo.Access) *view {
	info := web.From(r.Context())
	return &view{a: a, info: info, at: tracker.NewPlace(info, a.Repo), pulls: []pullPayload{}}
}

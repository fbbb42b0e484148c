package checkrun

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// LatestOfMany loads the latest runs of several commits, at most size for each, and their total numbers.
// They are rendered as in GET /repos/{owner}/{repo}/commits/{ref...}/check-runs, without pull requests. The
// caller must have access to the commits.
func (api *API) LatestOfMany(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[*Payload], error) {
	find := func(tx *db.Tx) (totals map[git.SHA]int64, runs []*Run, err error) {
		if totals, err = countOfMany(tx, a.ID, shas); err == nil {
			runs, err = latestOfMany(tx, scanRun, runColumns, a.ID, shas, size)
		}
		return totals, runs, err
	}
	return loadRuns(ctx, api, a, shas, find, func(run *Run) git.SHA { return run.SHA })
}

// RunsOfSuites loads the runs of several suites as LatestOfMany does; all includes runs that are not the
// latest of their name. Suites of other repositories have no runs.
func (api *API) RunsOfSuites(
	ctx context.Context, a *repo.Access, suites []int64, all bool, size int64,
) (map[int64]*web.List[*Payload], error) {
	find := func(tx *db.Tx) (totals map[int64]int64, runs []*Run, err error) {
		if totals, err = countRuns(tx, a.ID, suites, all); err == nil {
			runs, err = runsOfMany(tx, a.ID, suites, all, size)
		}
		return totals, runs, err
	}
	return loadRuns(ctx, api, a, suites, find, func(run *Run) int64 { return run.SuiteID })
}

// loadRuns loads a list of runs for each key. find reads the runs and their total numbers.
func loadRuns[K comparable](
	ctx context.Context, api *API, a *repo.Access, keys []K,
	find func(*db.Tx) (totals map[K]int64, runs []*Run, err error), keyOf func(*Run) K,
) (map[K]*web.List[*Payload], error) {
	v := newView(ctx, a)
	var runs []*Run
	var totals map[K]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
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
		return nil, err
	}
	out := map[K]*web.List[*Payload]{}
	for _, key := range keys {
		out[key] = &web.List[*Payload]{Total: totals[key]}
	}
	for _, run := range runs {
		of := out[keyOf(run)]
		of.Rows = append(of.Rows, v.run(run))
	}
	return out, nil
}

// RunsByIDs loads the runs of the ids as LatestOfMany does. Those not in the repository are omitted.
func (api *API) RunsByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]*Payload, error) {
	find := func(tx *db.Tx) (totals map[int64]int64, runs []*Run, err error) {
		runs, err = runsByIDs(tx, a.ID, db.Unique(ids))
		return nil, runs, err
	}
	lists, err := loadRuns(ctx, api, a, ids, find, func(run *Run) int64 { return run.ID })
	out := map[int64]*Payload{}
	for id, list := range lists {
		if len(list.Rows) > 0 {
			out[id] = list.Rows[0]
		}
	}
	return out, err
}

// Annotations loads a page of the annotations of each of the runs, in the order in which they came. Runs that are
// not in the repository have none.
func (api *API) Annotations(
	ctx context.Context, a *repo.Access, runs []int64, page web.Page,
) (map[int64]*web.List[*AnnotationPayload], error) {
	v, out, shas := newView(ctx, a), map[int64]*web.List[*AnnotationPayload]{}, map[int64]git.SHA{}
	var list []annotationOf
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		found, err := runsByIDs(tx, a.ID, db.Unique(runs))
		if err != nil {
			return err
		}
		var ids []int64
		for _, run := range found {
			ids, shas[run.ID] = append(ids, run.ID), run.SHA
			out[run.ID] = &web.List[*AnnotationPayload]{Total: run.Annotations}
		}
		list, err = annotationsOf(tx, ids, page.Size+1, page.Offset())
		return err
	})
	for n := range list {
		run := list[n].run
		out[run].Add(page, v.annotation(shas[run], &list[n].Annotation))
	}
	return out, err
}

// SuitesOfMany loads the suites of each of the commits, the first so many, as GET
// /repos/{owner}/{repo}/commits/{ref...}/check-suites lists them, but without pull requests, repository and
// commit, and counts all. The commits were found for the caller before.
func (api *API) SuitesOfMany(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[*SuitePayload], error) {
	var totals map[git.SHA]int64
	suites, v, err := api.loadSuites(ctx, a, func(tx *db.Tx) (list []*Suite, err error) {
		if totals, err = countSuites(tx, a.ID, shas); err != nil {
			return nil, err
		}
		return suitesOfMany(tx, a.ID, shas, size)
	})
	if err != nil {
		return nil, err
	}
	out := map[git.SHA]*web.List[*SuitePayload]{}
	for _, sha := range shas {
		out[sha] = &web.List[*SuitePayload]{Total: totals[sha]}
	}
	for _, s := range suites {
		out[s.SHA].Rows = append(out[s.SHA].Rows, v.suite(s))
	}
	return out, nil
}

// SuitesByIDs loads suites by id, rendered as by SuitesOfMany. Suites of other repositories are missing
// from the map.
func (api *API) SuitesByIDs(ctx context.Context, a *repo.Access, ids []int64) (map[int64]*SuitePayload, error) {
	suites, v, err := api.loadSuites(ctx, a, func(tx *db.Tx) ([]*Suite, error) {
		return suitesByIDs(tx, a.ID, db.Unique(ids))
	})
	out := map[int64]*SuitePayload{}
	for _, s := range suites {
		out[s.ID] = v.suite(s)
	}
	return out, err
}

// loadSuites calls find to read suites, and returns them with a view that has their Apps.
func (api *API) loadSuites(
	ctx context.Context, a *repo.Access, find func(tx *db.Tx) ([]*Suite, error),
) (list []*Suite, v *view, err error) {
	v = newView(ctx, a)
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = find(tx); err != nil {
			return err
		}
		apps := make([]account.AppID, len(list))
		for n, s := range list {
			apps[n] = s.AppID
		}
		v.apps, err = api.s.apps.Find(tx, db.Unique(apps)...)
		return err
	})
	return list, v, err
}

// newView returns a view without Apps and pull requests.
func newView(ctx context.Context, a *repo.Access) *view {
	info := web.From(ctx)
	return &view{a: a, info: info, at: issuekit.NewAddresses(info, a.Repo), pulls: []pullPayload{}}
}

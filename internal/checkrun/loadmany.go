package checkrun

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// LatestOfMany loads a page of the latest runs of each of several commits, and how many each commit has. They
// are rendered as in GET /repos/{owner}/{repo}/commits/{ref...}/check-runs, without pull requests. The commits
// were found for the caller before.
func (api *API) LatestOfMany(
	ctx context.Context, commits []repo.Of[git.SHA], page web.Page,
) (map[repo.Of[git.SHA]]*web.List[*Payload], error) {
	find := func(tx *db.Tx) (totals map[repo.Of[git.SHA]]int64, runs []*Run, err error) {
		if totals, err = countOfMany(tx, commits); err == nil && len(totals) > 0 {
			runs, err = latestOfMany(tx, scanRun, runColumns, commits, page)
		}
		return totals, runs, err
	}
	return loadRuns(ctx, api, commits, page, find, func(run *Run) git.SHA { return run.SHA })
}

// RunsOfSuites loads the runs of several suites as LatestOfMany does; all includes runs that are not the
// latest of their name. Suites of other repositories have no runs.
func (api *API) RunsOfSuites(
	ctx context.Context, suites []repo.Of[int64], all bool, page web.Page,
) (map[repo.Of[int64]]*web.List[*Payload], error) {
	find := func(tx *db.Tx) (totals map[repo.Of[int64]]int64, runs []*Run, err error) {
		if totals, err = countRuns(tx, suites, all); err == nil && len(totals) > 0 {
			runs, err = runsOfMany(tx, suites, all, page)
		}
		return totals, runs, err
	}
	return loadRuns(ctx, api, suites, page, find, func(run *Run) int64 { return run.SuiteID })
}

// loadRuns loads a page of a list of runs for each key. find reads the runs and their total numbers.
func loadRuns[K comparable](
	ctx context.Context, api *API, keys []repo.Of[K], page web.Page,
	find func(*db.Tx) (totals map[repo.Of[K]]int64, runs []*Run, err error), keyOf func(*Run) K,
) (map[repo.Of[K]]*web.List[*Payload], error) {
	v, in := newViews(ctx), repo.In(keys)
	var runs []*Run
	var totals map[repo.Of[K]]int64
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
	out := map[repo.Of[K]]*web.List[*Payload]{}
	for _, key := range keys {
		out[key] = &web.List[*Payload]{Total: totals[key], More: page.Number*page.Size < totals[key]}
	}
	for _, run := range runs {
		if of := out[repo.Of[K]{In: in[run.RepoID], Key: keyOf(run)}]; of != nil {
			of.Rows = append(of.Rows, v.at(in[run.RepoID]).run(run))
		}
	}
	return out, nil
}

// RunsByIDs loads the runs of the ids as LatestOfMany does. Those not in the repository are omitted.
func (api *API) RunsByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*Payload, error) {
	find := func(tx *db.Tx) (totals map[repo.Of[int64]]int64, runs []*Run, err error) {
		runs, err = runsByIDs(tx, db.Unique(repo.Keys(ids)))
		return nil, runs, err
	}
	lists, err := loadRuns(ctx, api, ids, web.Page{}, find, func(run *Run) int64 { return run.ID })
	out := map[repo.Of[int64]]*Payload{}
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
	ctx context.Context, runs []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*AnnotationPayload], error) {
	v, in, of := newViews(ctx), repo.In(runs), map[int64]*Run{}
	out := map[repo.Of[int64]]*web.List[*AnnotationPayload]{}
	var list []annotationOf
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		found, err := runsByIDs(tx, db.Unique(repo.Keys(runs)))
		if err != nil {
			return err
		}
		var ids []int64
		for _, run := range found {
			if a := in[run.RepoID]; a != nil {
				ids, of[run.ID] = append(ids, run.ID), run
				out[repo.Of[int64]{In: a, Key: run.ID}] = &web.List[*AnnotationPayload]{Total: run.Annotations}
			}
		}
		list, err = annotationsOf(tx, ids, page.Size+1, page.Offset())
		return err
	})
	for n := range list {
		run := of[list[n].run]
		a := in[run.RepoID]
		out[repo.Of[int64]{In: a, Key: run.ID}].Add(page, v.at(a).annotation(run.SHA, &list[n].Annotation))
	}
	return out, err
}

// SuitesOfMany loads a page of the suites of each of the commits, as GET
// /repos/{owner}/{repo}/commits/{ref...}/check-suites lists them, but without pull requests, repository and
// commit, and counts all. The commits were found for the caller before.
func (api *API) SuitesOfMany(
	ctx context.Context, commits []repo.Of[git.SHA], page web.Page,
) (map[repo.Of[git.SHA]]*web.List[*SuitePayload], error) {
	var totals map[repo.Of[git.SHA]]int64
	suites, v, err := api.loadSuites(ctx, func(tx *db.Tx) (list []*Suite, err error) {
		if totals, err = countSuites(tx, commits); err != nil || len(totals) == 0 {
			return nil, err
		}
		return suitesOfMany(tx, commits, page)
	})
	if err != nil {
		return nil, err
	}
	in, out := repo.In(commits), map[repo.Of[git.SHA]]*web.List[*SuitePayload]{}
	for _, c := range commits {
		out[c] = &web.List[*SuitePayload]{Total: totals[c], More: page.Number*page.Size < totals[c]}
	}
	for _, s := range suites {
		of := out[repo.Of[git.SHA]{In: in[s.RepoID], Key: s.SHA}]
		of.Rows = append(of.Rows, v.at(in[s.RepoID]).suite(s))
	}
	return out, nil
}

// SuitesByIDs loads suites by id, rendered as by SuitesOfMany. Those that are not in the repository are
// omitted.
func (api *API) SuitesByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*SuitePayload, error) {
	suites, v, err := api.loadSuites(ctx, func(tx *db.Tx) ([]*Suite, error) {
		return suitesByIDs(tx, db.Unique(repo.Keys(ids)))
	})
	in, out := repo.In(ids), map[repo.Of[int64]]*SuitePayload{}
	for _, s := range suites {
		if a := in[s.RepoID]; a != nil {
			out[repo.Of[int64]{In: a, Key: s.ID}] = v.at(a).suite(s)
		}
	}
	return out, err
}

// loadSuites calls find to read suites, and returns them with views that have their Apps.
func (api *API) loadSuites(
	ctx context.Context, find func(tx *db.Tx) ([]*Suite, error),
) (list []*Suite, v *views, err error) {
	v = newViews(ctx)
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

// views renders what is in several repositories, without pull requests.
type views struct {
	info *web.Info
	apps map[account.AppID]*app.App
	of   map[repo.ID]*view
}

func newViews(ctx context.Context) *views {
	return &views{info: web.From(ctx), of: map[repo.ID]*view{}}
}

// at returns the view of a repository.
func (v *views) at(a *repo.Access) *view {
	if v.of[a.ID] == nil {
		v.of[a.ID] = &view{a: a, info: v.info, at: issuekit.NewAddresses(v.info, a.Repo), apps: v.apps,
			pulls: []pullPayload{}}
	}
	return v.of[a.ID]
}

// HeadedPull is an open pull request with the names of its branches.
type HeadedPull struct {
	Number     int64
	Head, Base string
}

// PullsOf lists the open pull requests within their repositories whose heads are the commits, as the suites of these
// show them.
func (api *API) PullsOf(
	ctx context.Context, commits []repo.Of[git.SHA],
) (found map[repo.Of[git.SHA]][]HeadedPull, err error) {
	in := repo.In(commits)
	err = api.s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[repo.Of[git.SHA]][]HeadedPull{}
		return pullsOfMany(tx, commits, func(id repo.ID, sha git.SHA, p HeadedPull) {
			if of := (repo.Of[git.SHA]{In: in[id], Key: sha}); len(found[of]) < maxPulls {
				found[of] = append(found[of], p)
			}
		})
	})
	return found, err
}

package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/status"
	"arbor/internal/web"
)

func statusContextFields() map[string]exec.Resolver {
	type shown = status.Payload
	return map[string]exec.Resolver{
		"id":          pick(func(s shown) any { return s.NodeID }),
		"context":     pick(func(s shown) any { return s.Context }),
		"state":       pick(func(s shown) any { return enumName(s.State) }),
		"description": pick(func(s shown) any { return s.Description }),
		"targetUrl":   pick(func(s shown) any { return s.TargetURL }),
		"createdAt":   pick(func(s shown) any { return s.CreatedAt }),
		"creator":     pick(func(s shown) any { return newAccount(s.Creator) }),
		"isRequired":  one(required),
		"avatarUrl":   pick(func(s shown) any { return s.AvatarURL }),
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", string(o.value.(shown).SHA)), nil
		}),
	}
}

func checkRunFields() map[string]exec.Resolver {
	type run = *checkrun.Payload
	return map[string]exec.Resolver{
		"id":           pick(func(r run) any { return r.NodeID }),
		"databaseId":   pick(func(r run) any { return r.ID }),
		"name":         pick(func(r run) any { return r.Name }),
		"status":       pick(func(r run) any { return enumName(r.Status) }),
		"conclusion":   pick(func(r run) any { return enum(r.Conclusion) }),
		"detailsUrl":   pick(func(r run) any { return r.DetailsURL }),
		"title":        pick(func(r run) any { return r.Output.Title }),
		"summary":      pick(func(r run) any { return r.Output.Summary }),
		"text":         pick(func(r run) any { return r.Output.Text }),
		"externalId":   pick(func(r run) any { return r.ExternalID }),
		"startedAt":    pick(func(r run) any { return r.StartedAt }),
		"completedAt":  pick(func(r run) any { return r.CompletedAt }),
		"url":          pick(func(r run) any { return r.HTMLURL }),
		"permalink":    pick(func(r run) any { return r.HTMLURL }),
		"resourcePath": pick(func(r run) any { return pathOf(r.HTMLURL) }),
		"repository":   inRepository, "annotations": connections(annotations), "isRequired": one(required),
		"checkSuite": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			r := o.value.(run)
			return &object{kind: "CheckSuite", id: r.SuiteID, repo: o.repo,
				value: &checkrun.SuitePayload{ID: r.SuiteID, App: r.App, SHA: r.SHA}}, nil
		}),
	}
}

// newSuite returns a check suite.
func newSuite(in *object, s *checkrun.SuitePayload) *object {
	return &object{kind: "CheckSuite", value: s, whole: true, id: s.ID, repo: in}
}

func checkSuiteFields() map[string]exec.Resolver {
	type suite = *checkrun.SuitePayload
	return merge(after(isKnown, merge(map[string]exec.Resolver{ // a run knows these of its suite
		"app": pick(func(s suite) any {
			if s.App == nil {
				return nil
			}
			return &object{kind: "App", value: s.App, whole: true}
		}),
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", string(o.value.(suite).SHA)), nil
		}),
	}, pageFields(func(ctx context.Context, o *object) string { // the page of the commit's checks
		return below(ctx, o, "/commit/"+string(o.value.(suite).SHA)+"/checks?check_suite_id="+decimal(o.id))
	}))), after(isWhole, map[string]exec.Resolver{
		"status":     pick(func(s suite) any { return enumName(s.Status) }),
		"conclusion": pick(func(s suite) any { return enum(s.Conclusion) }),
		"createdAt":  pick(func(s suite) any { return s.CreatedAt }),
		"updatedAt":  pick(func(s suite) any { return s.UpdatedAt }),
		"branch": refsOf(func(_ context.Context, o *object) (*object, string, error) {
			if name := orEmpty(o.value.(suite).Branch); name != "" {
				return o.repo, heads + name, nil
			}
			return nil, "", nil
		}),
	}), map[string]exec.Resolver{
		"id":         key(func(o *object) any { return account.NodeID("CheckSuite", o.id) }),
		"databaseId": key(func(o *object) any { return o.id }),
		"repository": inRepository, "checkRuns": checkRuns,
	}, after(isKnown, map[string]exec.Resolver{"matchingPullRequests": matchingPulls}))
}

func appFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id":                  pick(func(a *app.Payload) any { return a.NodeID }),
		"databaseId":          pick(func(a *app.Payload) any { return int64(a.ID) }),
		"clientId":            pick(func(a *app.Payload) any { return a.ClientID }),
		"name":                pick(func(a *app.Payload) any { return a.Name }),
		"slug":                pick(func(a *app.Payload) any { return a.Slug }),
		"description":         pick(func(a *app.Payload) any { return a.Description }),
		"url":                 pick(func(a *app.Payload) any { return a.HTMLURL }),
		"createdAt":           pick(func(a *app.Payload) any { return a.CreatedAt }),
		"updatedAt":           pick(func(a *app.Payload) any { return a.UpdatedAt }),
		"logoUrl":             pick(func(a *app.Payload) any { return a.Owner.AvatarURL }),
		"logoBackgroundColor": always("ffffff"),
	}
}

// runsByID loads runs by id.
func runsByID(q *query) loader[int64, *checkrun.Payload] {
	return loader[int64, *checkrun.Payload]{name: "runs by id", route: "/check-runs/{check_run_id}", key: byID,
		read: q.load.Checks.RunsByIDs}
}

// suitesByID loads suites by id.
func suitesByID(q *query) loader[int64, *checkrun.SuitePayload] {
	return loader[int64, *checkrun.SuitePayload]{name: "suites by id", route: "/check-suites/{check_suite_id}", key: byID,
		read: q.load.Checks.SuitesByIDs}
}

// suites loads the suites of commits.
func (q *query) suites() listLoader[git.SHA, *checkrun.SuitePayload] {
	l := loader[git.SHA, *web.List[*checkrun.SuitePayload]]{name: "suites", route: "/commits/{ref...}/check-suites",
		key: bySHA}
	return lists(l, q.load.Checks.SuitesOfMany)
}

// checkSuites resolves the suites of commits.
func checkSuites(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	filter, _ := f.Args["filterBy"].(map[string]any)
	commits, suites := objectsOf(parents), make([][]any, len(parents))
	q.suites().loadAll(ctx, q, commits, mostContexts)
	var all []*object
	for n, c := range commits {
		list, err := q.suites().all(ctx, q, c, mostContexts)
		if err != nil {
			values[n] = asError(err)
		}
		for _, s := range list {
			if ofApp(s.App, filter["appId"]) {
				suite := newSuite(c.repo, s)
				suites[n], all = append(suites[n], suite), append(all, suite)
			}
		}
	}
	name, named := filter["checkName"].(string)
	if named {
		q.runs(false).loadAll(ctx, q, all, mostContexts)
	}
	for n := range commits {
		if values[n] != nil {
			continue
		}
		var err error
		if named {
			suites[n], err = q.withRun(ctx, suites[n], name)
		}
		if err == nil {
			values[n], err = connectAll(f, "CheckSuiteConnection", suites[n])
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// withRun returns the suites that have a run of a name.
func (q *query) withRun(ctx context.Context, suites []any, name string) (found []any, failure error) {
	for _, s := range suites {
		runs, err := q.runs(false).all(ctx, q, s.(*object), mostContexts)
		failure = cmp.Or(failure, err)
		if slices.ContainsFunc(runs, func(r *checkrun.Payload) bool { return r.Name == name }) {
			found = append(found, s)
		}
	}
	return found, failure
}

// ofApp reports whether something is of the App with an id. nil means any App.
func ofApp(a *app.Payload, id any) bool {
	number, ok := id.(int)
	return !ok || a != nil && a.ID == account.AppID(number)
}

// runs loads the runs of suites: the latest of each name, or all.
func (q *query) runs(all bool) listLoader[int64, *checkrun.Payload] {
	l := loader[int64, *web.List[*checkrun.Payload]]{name: fmt.Sprint("runs ", all),
		route: "/check-suites/{check_suite_id}/check-runs", key: byID}
	return lists(l, func(ctx context.Context, suites []repo.Of[int64], page web.Page) (
		map[repo.Of[int64]]*web.List[*checkrun.Payload], error) {
		return q.load.Checks.RunsOfSuites(ctx, suites, all, page)
	})
}

// checkRuns resolves the runs of suites.
func checkRuns(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	filter, _ := f.Args["filterBy"].(map[string]any)
	runs := q.runs(filter["checkType"] == "ALL")
	runs.loadAll(ctx, q, objectsOf(parents), mostContexts)
	for n, suite := range objectsOf(parents) {
		list, err := runs.all(ctx, q, suite, mostContexts)
		var all []any
		for _, run := range list {
			if runChosen(run, filter) {
				all = append(all, newThing("CheckRun", suite.repo, run))
			}
		}
		if err == nil {
			values[n], err = connectAll(f, "CheckRunConnection", all)
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// runChosen reports whether a run passes a filter.
func runChosen(r *checkrun.Payload, filter map[string]any) bool {
	among := func(word string, list any) bool {
		names, ok := list.([]any)
		return !ok || slices.Contains(names, any(enumName(word)))
	}
	if name, ok := filter["checkName"].(string); ok && name != r.Name {
		return false
	}
	if status, ok := filter["status"].(string); ok && status != enumName(r.Status) {
		return false
	}
	return ofApp(r.App, filter["appId"]) && among(r.Status, filter["statuses"]) &&
		among(orEmpty(r.Conclusion), filter["conclusions"])
}

// combined returns a Status, the combined statuses of a commit without its checks. It returns nil if there
// are none.
func combined(r *rollup) any {
	statuses := &rollup{commit: r.commit}
	for _, c := range r.contexts {
		if c.(*object).kind == "StatusContext" {
			statuses.contexts = append(statuses.contexts, c)
		}
	}
	if len(statuses.contexts) == 0 {
		return nil
	}
	return &combinedStatus{statuses, r}
}

// combinedStatus is a Status of the schema.
type combinedStatus struct {
	*rollup         // without the checks
	whole   *rollup // with them
}

func (*combinedStatus) TypeName() string { return "Status" }

func combinedFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return each(func(c *combinedStatus) any { return orError(c.nodeID(ctx, "Status")) })(ctx, nil, parents)
		},
		"commit":   each(func(c *combinedStatus) any { return c.commit }),
		"state":    each(func(c *combinedStatus) any { return c.state() }),
		"contexts": each(func(c *combinedStatus) any { return c.contexts }),
		"combinedContexts": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			return each(func(c *combinedStatus) any { return contextsOf(f, c.whole) })(ctx, f, parents)
		},
		"context": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			return each(func(c *combinedStatus) any {
				for _, s := range c.contexts {
					if strings.EqualFold(s.(*object).value.(status.Payload).Context, f.Args["name"].(string)) {
						return s
					}
				}
				return nil
			})(ctx, f, parents)
		},
	}
}

// nodeID returns a node id of the repository and the commit's name.
func (r *rollup) nodeID(ctx context.Context, kind string) (any, error) {
	return inRepositoryID(ctx, r.commit.repo, kind, r.commit.name)
}

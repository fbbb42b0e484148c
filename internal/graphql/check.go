package graphql

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

func statusContextFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": same("node_id"), "context": same("context"), "state": upper("state"),
		"description": same("description"),
		"targetUrl":   same("target_url"), "createdAt": same("created_at"), "creator": accountField("creator"),
		"isRequired": always(false), "avatarUrl": same("avatar_url"),
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return commitOfStatus(o), nil
		}),
	}
}

// commitOfStatus returns the commit of a status. The status's address ends with the commit's name.
func commitOfStatus(o *object) any {
	at := textOf(o.data, "url")
	return gitObject(o.repo, "commit", at[strings.LastIndexByte(at, '/')+1:])
}

func checkRunFields() map[string]exec.Resolver {
	output := func(member string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "output")
			return decode(data.get(member)), err
		})
	}
	return map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "name": same("name"), "status": upper("status"),
		"conclusion": upper("conclusion"), "detailsUrl": same("details_url"), "title": output("title"),
		"summary": output("summary"),
		"text":    output("text"), "externalId": same("external_id"), "startedAt": same("started_at"),
		"completedAt": same("completed_at"),
		"url":         same("html_url"), "permalink": same("html_url"), "resourcePath": resourcePath("html_url"),
		"isRequired": always(false),
		"repository": inRepository, "annotations": connections(annotations),
		"checkSuite": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			inner, err := o.inner(ctx, "check_suite")
			if err != nil {
				return nil, err
			}
			id, _ := decode(inner.get("id")).(json.Number).Int64()
			data := withID("CheckSuite", id).with("app", o.data.get("app")).with("head_sha",
				o.data.get("head_sha"))
			return newSuite(o.repo, data, false), nil
		}),
	}
}

// newSuite returns a check suite for a payload, which may have only a part of its members.
func newSuite(in *object, data payload, whole bool) *object {
	return &object{kind: "CheckSuite", data: data, whole: whole, repo: in,
		source: source{Path: in.path("check-suites", string(data.get("id")))}}
}

func checkSuiteFields() map[string]exec.Resolver {
	fields := map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "repository": inRepository,
		"workflowRun": always(nil),
		"checkRuns":   checkRuns,
		"app": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "app")
			if data == nil {
				return nil, err
			}
			return &object{kind: "App", data: data, whole: true}, nil
		}),
		"commit": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", o.text(ctx, "head_sha")), nil
		}),
		"url": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return suiteAddress(ctx, o)
		}),
		"resourcePath": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			at, err := suiteAddress(ctx, o)
			return strings.TrimPrefix(at, siteOf(ctx)), err
		}),
	}
	for name, r := range map[string]exec.Resolver{
		"status": upper("status"), "conclusion": upper("conclusion"), "createdAt": same("created_at"),
		"updatedAt": same("updated_at"),
		"branch": refsOf(func(ctx context.Context, o *object) (*object, string, error) {
			name, err := o.value(ctx, "head_branch")
			if text, _ := name.(string); text != "" {
				return o.repo, "refs/heads/" + text, err
			}
			return nil, "", err
		}),
	} {
		fields[name] = filled(suitesByID, anyObject, r)
	}
	return fields
}

func appFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{"id": same("node_id"), "databaseId": same("id"),
		"clientId": same("client_id"),
		"name":     same("name"),
		"slug":     same("slug"), "description": same("description"), "url": same("html_url"),
		"createdAt": same("created_at"),
		"updatedAt": same("updated_at")}
}

// runsByID loads runs by id.
func runsByID(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "runs by id", route: "/check-runs/{check_run_id}", key: byIdentity}
	return full(l, q.load.Checks.RunsByIDs)
}

// suitesByID loads suites by id.
func suitesByID(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "suites by id", route: "/check-suites/{check_suite_id}", key: byIdentity}
	return full(l, q.load.Checks.SuitesByIDs)
}

// suites loads the suites of commits.
func (q *query) suites() listLoader[git.SHA] {
	l := loader[git.SHA, *web.List[payload]]{name: "suites", route: "/commits/{ref...}/check-suites", key: bySHA}
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
		for _, data := range list {
			if ofApp(data, filter["appId"]) {
				suite := newSuite(c.repo, data, true)
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
		if slices.ContainsFunc(runs, func(data payload) bool { return textOf(data, "name") == name }) {
			found = append(found, s)
		}
	}
	return found, failure
}

// ofApp reports whether a payload is of the App with an id. nil means any App.
func ofApp(data payload, id any) bool {
	number, ok := id.(int)
	if !ok {
		return true
	}
	app, err := members(data.get("app"))
	return err == nil && string(app.get("id")) == decimal(int64(number))
}

// runs loads the runs of suites: the latest of each name, or all.
func (q *query) runs(all bool) listLoader[int64] {
	l := loader[int64, *web.List[payload]]{name: fmt.Sprint("runs ", all),
		route: "/check-suites/{check_suite_id}/check-runs", key: byIdentity}
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
		for _, data := range list {
			if runChosen(data, filter) {
				all = append(all, &object{kind: "CheckRun", data: data, whole: true, repo: suite.repo})
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
func runChosen(data payload, filter map[string]any) bool {
	among := func(member string, list any) bool {
		names, ok := list.([]any)
		return !ok || slices.Contains(names, any(enumName(textOf(data, member))))
	}
	if name, ok := filter["checkName"].(string); ok && name != textOf(data, "name") {
		return false
	}
	if status, ok := filter["status"].(string); ok && status != enumName(textOf(data, "status")) {
		return false
	}
	return ofApp(data, filter["appId"]) && among("status", filter["statuses"]) &&
		among("conclusion", filter["conclusions"])
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
	return &combinedStatus{statuses}
}

// combinedStatus is a Status of the schema.
type combinedStatus struct{ *rollup }

func (*combinedStatus) TypeName() string { return "Status" }

func combinedFields() map[string]exec.Resolver {
	each := func(value func(ctx context.Context, f *exec.Field, r *rollup) (any, error)) exec.Resolver {
		return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				v, err := value(ctx, f, p.(*combinedStatus).rollup)
				if values[n] = v; err != nil {
					values[n] = asError(err)
				}
			}
			return values
		}
	}
	return map[string]exec.Resolver{
		"id": each(func(ctx context.Context, _ *exec.Field, r *rollup) (any, error) {
			return r.nodeID(ctx, "Status")
		}),
		"commit": each(func(_ context.Context, _ *exec.Field, r *rollup) (any, error) {
			return r.commit, nil
		}),
		"state": each(func(_ context.Context, _ *exec.Field, r *rollup) (any, error) {
			return r.state(), nil
		}),
		"contexts": each(func(_ context.Context, _ *exec.Field, r *rollup) (any, error) {
			return r.contexts, nil
		}),
		"context": each(func(_ context.Context, f *exec.Field, r *rollup) (any, error) {
			for _, c := range r.contexts {
				if strings.EqualFold(textOf(c.(*object).data, "context"), f.Args["name"].(string)) {
					return c, nil
				}
			}
			return nil, nil
		}),
	}
}

// nodeID returns a node id of the repository and the commit's name.
func (r *rollup) nodeID(ctx context.Context, kind string) (any, error) {
	number, err := repositoryID(ctx, r.commit.repo)
	inner := account.NodeID(kind, number) + ":" + textOf(r.commit.data, "sha")
	return base64.RawURLEncoding.EncodeToString([]byte(inner)), err
}

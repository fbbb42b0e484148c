package graphql

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// rollups returns a resolver of a value of the rollups of commits. One function returns a parent's commit,
// the other the value of its rollup.
func rollups(
	commitOf func(ctx context.Context, o *object) (*object, error), show func(r *rollup) any,
) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		q, values := queryOf(ctx), make([]any, len(parents))
		var commits []*object
		at := map[int]*object{}
		for n, p := range parents {
			commit, err := commitOf(ctx, p.(*object))
			if err != nil {
				values[n] = asError(err)
				continue
			}
			commits, at[n] = append(commits, commit), commit
		}
		q.loadRollups(ctx, commits)
		for n, commit := range at {
			r, err := q.rollup(ctx, commit)
			if err != nil {
				values[n] = asError(err)
			} else if r != nil {
				values[n] = show(r)
			}
		}
		return values
	}
}

// loadRollups loads the first statuses and checks of commits. It reads the checks of a single commit from
// REST, which verifies that the commit exists.
func (q *query) loadRollups(ctx context.Context, commits []*object) {
	q.statuses().load(ctx, q, commits)
	if len(commits) > 1 {
		q.checks().load(ctx, q, commits)
	}
}

func (q *query) statuses() loader[git.SHA, *web.List[payload]] {
	l := loader[git.SHA, *web.List[payload]]{name: "statuses", route: "/commits/{ref...}/status", key: bySHA}
	return beginnings(l, firstInEach(q.load.Statuses.Latest))
}

func (q *query) checks() loader[git.SHA, *web.List[payload]] {
	l := loader[git.SHA, *web.List[payload]]{name: "checks", route: "/commits/{ref...}/check-runs", key: bySHA}
	return beginnings(l, firstInEach(q.load.Checks.LatestOfMany))
}

// rollupPath returns the address of a commit, below which its statuses and checks are.
func rollupPath(commit *object) string {
	return commit.repo.path("commits", textOf(commit.data, "sha"))
}

// rollup returns the combined statuses and checks of a commit, or nil if there are none.
func (q *query) rollup(ctx context.Context, commit *object) (*rollup, error) {
	at := rollupPath(commit)
	r := &rollup{commit: commit}
	begun, err := q.statuses().get(ctx, q, commit)
	if err != nil {
		return nil, err
	}
	statuses, err := q.within(ctx, begun, Question{Path: at + "/status"}, "statuses")
	known, _ := q.checks().known(q, commit)
	runs, err2 := q.within(ctx, known, Question{Path: at + "/check-runs"}, "check_runs")
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	for _, data := range runs {
		r.contexts = append(r.contexts, &object{kind: "CheckRun", data: data, whole: true, repo: commit.repo})
	}
	for _, data := range statuses {
		r.contexts = append(r.contexts, &object{kind: "StatusContext", data: data, whole: true,
			repo: commit.repo})
	}
	if len(r.contexts) == 0 {
		return nil, nil
	}
	return r, nil
}

// mostContexts limits how many hundreds of statuses, and of checks, a rollup counts.
const mostContexts = 10

// within reads a whole list that is a member of an object. It continues after the first hundred rows if
// they are loaded.
func (q *query) within(
	ctx context.Context, begun *web.List[payload], question Question, member string,
) (all []payload, err error) {
	first := 1
	if begun != nil {
		if all = begun.Rows; len(all) < web.MaxPageSize || int64(len(all)) >= begun.Total {
			return all, nil
		}
		all, first = slices.Clip(all), 2
	}
	for n := first; n <= mostContexts; n++ {
		data, err := q.object(ctx, paged(question, n, 100))
		if err != nil {
			return nil, err
		}
		list, err := objectsIn(data.get(member))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if total, _ := strconv.Atoi(string(data.get("total_count"))); len(list) < 100 || len(all) >= total {
			break
		}
	}
	return all, nil
}

// whole returns the rollup itself.
func whole(r *rollup) any { return r }

// rollup is a StatusCheckRollup of the schema.
type rollup struct {
	commit   *object
	contexts []any
}

func (*rollup) TypeName() string { return "StatusCheckRollup" }

// contextState returns the state of a check or a status in counts.
func contextState(o *object) string {
	if o.kind == "StatusContext" {
		return enumName(textOf(o.data, "state"))
	}
	if conclusion := textOf(o.data, "conclusion"); conclusion != "" {
		return enumName(conclusion)
	}
	return enumName(textOf(o.data, "status"))
}

// state returns the combined state: failures take precedence, then pending contexts.
func (r *rollup) state() string {
	sum := "SUCCESS"
	for _, c := range r.contexts {
		switch contextState(c.(*object)) {
		case "SUCCESS", "NEUTRAL", "SKIPPED":
		case "ERROR", "FAILURE", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE":
			return "FAILURE"
		default:
			sum = "PENDING"
		}
	}
	return sum
}

// counts returns the number of checks or statuses in each state. It includes all states, because gh counts
// nothing otherwise.
func (r *rollup) counts(kind, typeName string, states ...string) []any {
	n := map[string]int{}
	for _, c := range r.contexts {
		if o := c.(*object); o.kind == kind {
			n[contextState(o)]++
		}
	}
	list := make([]any, len(states))
	for k, s := range states {
		list[k] = bare{typeName, map[string]any{"state": s, "count": n[s]}}
	}
	return list
}

func rollupFields() map[string]exec.Resolver {
	each := func(value func(f *exec.Field, r *rollup) (any, error)) exec.Resolver {
		return func(_ context.Context, f *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				v, err := value(f, p.(*rollup))
				if values[n] = v; err != nil {
					values[n] = asError(err)
				}
			}
			return values
		}
	}
	return map[string]exec.Resolver{
		"id": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				v, err := p.(*rollup).nodeID(ctx, "StatusCheckRollup")
				if values[n] = v; err != nil {
					values[n] = asError(err)
				}
			}
			return values
		},
		"commit": each(func(_ *exec.Field, r *rollup) (any, error) { return r.commit, nil }),
		"state":  each(func(_ *exec.Field, r *rollup) (any, error) { return r.state(), nil }),
		"contexts": each(func(f *exec.Field, r *rollup) (any, error) {
			c, err := connectAll(f, "StatusCheckRollupContextConnection", r.contexts)
			if err != nil {
				return nil, err
			}
			c.(*connection).rollup = r
			return c, nil
		}),
	}
}

// rollupCounts returns the additional fields of the connection of contexts.
func rollupCounts() map[string]exec.Resolver {
	each := func(value func(r *rollup) any) exec.Resolver {
		return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				values[n] = value(p.(*connection).rollup)
			}
			return values
		}
	}
	of := func(kind string) exec.Resolver {
		return each(func(r *rollup) any {
			n := 0
			for _, c := range r.contexts {
				if c.(*object).kind == kind {
					n++
				}
			}
			return n
		})
	}
	return map[string]exec.Resolver{
		"checkRunCount": of("CheckRun"), "statusContextCount": of("StatusContext"),
		"checkRunCountsByState": each(func(r *rollup) any {
			return r.counts("CheckRun", "CheckRunStateCount", "ACTION_REQUIRED", "CANCELLED",
				"COMPLETED", "FAILURE", "IN_PROGRESS", "NEUTRAL", "PENDING", "QUEUED", "SKIPPED", "STALE",
				"STARTUP_FAILURE", "SUCCESS",
				"TIMED_OUT", "WAITING")
		}),
		"statusContextCountsByState": each(func(r *rollup) any {
			return r.counts("StatusContext", "StatusContextStateCount", "ERROR", "EXPECTED", "FAILURE",
				"PENDING", "SUCCESS")
		}),
	}
}

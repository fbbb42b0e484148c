package graphql

import (
	"context"

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

// mostContexts limits how many hundreds of statuses, and of checks, a rollup counts.
const mostContexts = 10

// loadRollups loads the statuses and checks of commits.
func (q *query) loadRollups(ctx context.Context, commits []*object) {
	q.statuses().loadAll(ctx, q, commits, mostContexts)
	q.checks().loadAll(ctx, q, commits, mostContexts)
}

func (q *query) statuses() listLoader[git.SHA] {
	l := loader[git.SHA, *web.List[payload]]{name: "statuses", route: "/commits/{ref...}/status", key: bySHA}
	return lists(l, q.load.Statuses.Latest)
}

func (q *query) checks() listLoader[git.SHA] {
	l := loader[git.SHA, *web.List[payload]]{name: "checks", route: "/commits/{ref...}/check-runs", key: bySHA}
	return lists(l, q.load.Checks.LatestOfMany)
}

// rollup returns the combined statuses and checks of a commit, or nil if there are none.
func (q *query) rollup(ctx context.Context, commit *object) (*rollup, error) {
	r := &rollup{commit: commit}
	statuses, err := q.statuses().all(ctx, q, commit, mostContexts)
	if err != nil {
		return nil, err
	}
	runs, err := q.checks().all(ctx, q, commit, mostContexts)
	if err != nil {
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

package graphql

import (
	"cmp"
	"context"

	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/status"
	"arbor/internal/web"
)

// rollups returns a resolver of a value of the rollups of commits. One function returns a parent's commit,
// the other the value of its rollup.
func rollups(commitOf func(o *object) *object, show func(r *rollup) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		q, values, commits := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
		for n, o := range objectsOf(parents) {
			commits[n] = commitOf(o)
		}
		q.loadRollups(ctx, commits)
		for n, commit := range commits {
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

func (q *query) statuses() listLoader[git.SHA, status.Payload] {
	l := loader[git.SHA, *web.List[status.Payload]]{name: "statuses", route: "/commits/{ref...}/status", key: bySHA}
	return lists(l, q.load.Statuses.Latest)
}

func (q *query) checks() listLoader[git.SHA, *checkrun.Payload] {
	l := loader[git.SHA, *web.List[*checkrun.Payload]]{name: "checks", route: "/commits/{ref...}/check-runs", key: bySHA}
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
	for _, run := range runs {
		r.contexts = append(r.contexts, newThing("CheckRun", commit.repo, run))
	}
	for _, s := range statuses {
		r.contexts = append(r.contexts, newThing("StatusContext", commit.repo, s))
	}
	if len(r.contexts) == 0 {
		return nil, nil
	}
	return r, nil
}

// wholeRollup returns the rollup itself.
func wholeRollup(r *rollup) any { return r }

// rollup is a StatusCheckRollup of the schema.
type rollup struct {
	commit   *object
	contexts []any
}

func (*rollup) TypeName() string { return "StatusCheckRollup" }

// contextState returns the state of a check or a status in counts.
func contextState(o *object) string {
	if s, ok := o.value.(status.Payload); ok {
		return enumName(s.State)
	}
	run := o.value.(*checkrun.Payload)
	return enumName(cmp.Or(orEmpty(run.Conclusion), run.Status))
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
	return map[string]exec.Resolver{
		"id": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return each(func(r *rollup) any { return orError(r.nodeID(ctx, "StatusCheckRollup")) })(ctx, nil, parents)
		},
		"commit": each(func(r *rollup) any { return r.commit }),
		"state":  each(func(r *rollup) any { return r.state() }),
		"contexts": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			return each(func(r *rollup) any { return contextsOf(f, r) })(ctx, f, parents)
		},
	}
}

// contextsOf returns the contexts of a rollup as a connection.
func contextsOf(f *exec.Field, r *rollup) any {
	c, err := connectAll(f, "StatusCheckRollupContextConnection", r.contexts)
	if err == nil {
		c.(*connection).rollup = r
	}
	return orError(c, err)
}

// rollupCounts returns the additional fields of the connection of contexts.
func rollupCounts() map[string]exec.Resolver {
	of := func(kind string) exec.Resolver {
		return each(func(c *connection) any {
			n := 0
			for _, shown := range c.rollup.contexts {
				if shown.(*object).kind == kind {
					n++
				}
			}
			return n
		})
	}
	return map[string]exec.Resolver{
		"checkRunCount": of("CheckRun"), "statusContextCount": of("StatusContext"),
		"checkRunCountsByState": each(func(c *connection) any {
			return c.rollup.counts("CheckRun", "CheckRunStateCount", "ACTION_REQUIRED", "CANCELLED",
				"COMPLETED", "FAILURE", "IN_PROGRESS", "NEUTRAL", "PENDING", "QUEUED", "SKIPPED", "STALE",
				"STARTUP_FAILURE", "SUCCESS",
				"TIMED_OUT", "WAITING")
		}),
		"statusContextCountsByState": each(func(c *connection) any {
			return c.rollup.counts("StatusContext", "StatusContextStateCount", "ERROR", "EXPECTED", "FAILURE",
				"PENDING", "SUCCESS")
		}),
	}
}

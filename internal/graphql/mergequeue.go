package graphql

import (
	"context"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// queuesIn loads the merge queues of branches, which are objects of kind MergeQueue.
func queuesIn(q *query) loader[string, *pull.Queue] {
	return loader[string, *pull.Queue]{name: "merge queues", route: "/pulls", read: q.load.Pulls.Queues,
		key: func(o *object) string { return o.name }}
}

// queues returns a resolver for parents that have a merge queue: branchOf names its branch, "" is none. show gets nil
// for a branch without a queue.
func queues(
	branchOf func(f *exec.Field, o *object) (in *object, branch string), show func(o, queue *object) any,
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values := queryOf(ctx), make([]any, len(parents))
		of, wanted := make([]*object, len(parents)), []*object{}
		for n, o := range objectsOf(parents) {
			in, branch := branchOf(f, o)
			of[n] = &object{kind: "MergeQueue", name: branch, repo: in}
			wanted = append(wanted, of[n])
		}
		l := queuesIn(q)
		l.load(ctx, q, wanted)
		for n, o := range objectsOf(parents) {
			queue, err := l.get(ctx, q, of[n])
			switch {
			case err != nil:
				values[n] = asError(err)
			case queue == nil:
				values[n] = show(o, nil)
			default:
				of[n].value, of[n].whole = queue, true
				values[n] = show(o, of[n])
			}
		}
		return values
	}
}

func orNullObject(o *object) any {
	if o == nil {
		return nil
	}
	return o
}

// repositoryQueues is the field of repositories about the merge queue of a branch, by default of the default branch.
func repositoryQueues() map[string]exec.Resolver {
	return map[string]exec.Resolver{"mergeQueue": queues(func(f *exec.Field, o *object) (*object, string) {
		if branch, ok := f.Args["branch"].(string); ok {
			return o, branch
		}
		return o, o.value.(*repo.FullPayload).DefaultBranch
	}, func(_, queue *object) any { return orNullObject(queue) })}
}

// pullQueues are the fields of pull requests, which are whole, about merge queues.
func pullQueues() map[string]exec.Resolver {
	of := func(show func(o, queue *object) any) exec.Resolver {
		return queues(func(_ *exec.Field, o *object) (*object, string) {
			return o.repo, o.value.(*pull.View).Base.Ref
		}, show)
	}
	return map[string]exec.Resolver{
		"mergeQueue":          of(func(_, queue *object) any { return orNullObject(queue) }),
		"mergeQueueEntry":     of(func(o, queue *object) any { return orNullObject(entryOf(o, queue)) }),
		"isInMergeQueue":      of(func(o, queue *object) any { return entryOf(o, queue) != nil }),
		"isMergeQueueEnabled": of(func(_, queue *object) any { return queue != nil }),
	}
}

// entryOf returns the entry of a pull request in a queue, or nil.
func entryOf(o, queue *object) *object {
	if queue == nil {
		return nil
	}
	e := queue.value.(*pull.Queue).Find(o.number)
	if e == nil {
		return nil
	}
	return newQueueEntry(queue, e)
}

func newQueueEntry(queue *object, e *pull.QueueEntry) *object {
	return &object{kind: "MergeQueueEntry", id: e.ID, number: e.Number, name: strconv.FormatInt(e.Number, 10),
		value: e, whole: true, repo: queue.repo, of: queue}
}

func namedID(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	return inRepositoryID(ctx, o.repo, o.kind, o.name)
}

func mergeQueueFields() map[string]exec.Resolver {
	return merge(map[string]exec.Resolver{
		"id": one(namedID), "repository": inRepository,
		"nextEntryEstimatedTimeToMerge": pick(func(q *pull.Queue) any {
			if len(q.Entries) == 0 {
				return nil
			}
			return timeToMerge(q.Entries[0])
		}),
		"configuration": pick(func(q *pull.Queue) any {
			return bare{"MergeQueueConfiguration", map[string]any{"checkResponseTimeout": q.Timeout,
				"maximumEntriesToBuild": q.MaxBuild, "maximumEntriesToMerge": q.MaxMerge, "mergeMethod": q.Method,
				"mergingStrategy": q.Grouping, "minimumEntriesToMerge": q.MinMerge,
				"minimumEntriesToMergeWaitTime": q.MinWait}}
		}),
		"entries": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			var all []any
			for _, e := range o.value.(*pull.Queue).Entries {
				all = append(all, newQueueEntry(o, e))
			}
			return connectAll(f, "MergeQueueEntryConnection", all)
		}),
	}, pageFields(func(ctx context.Context, o *object) string {
		return siteOf(ctx) + "/" + o.repo.name + "/queue" + web.Path(strings.Split(o.name, "/")...)
	}))
}

// timeToMerge is 0 for an entry that is ready to merge, and null otherwise, because the duration of checks is
// unknown.
func timeToMerge(e *pull.QueueEntry) any {
	if e.State == pull.Mergeable {
		return 0
	}
	return nil
}

func mergeQueueEntryFields() map[string]exec.Resolver {
	commit := func(sha func(g *mergequeue.Group) git.SHA) exec.Resolver {
		return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if g := o.value.(*pull.QueueEntry).Group; g != nil {
				return gitObject(o.repo, "commit", string(sha(g))), nil
			}
			return nil, nil
		})
	}
	return map[string]exec.Resolver{
		"id":         one(namedID),
		"baseCommit": commit(func(g *mergequeue.Group) git.SHA { return g.Base }),
		"headCommit": commit(func(g *mergequeue.Group) git.SHA { return g.Head }),
		"enqueuedAt": pick(func(e *pull.QueueEntry) any { return e.At }),
		"enqueuer":   viewed(func(ctx context.Context, e *pull.QueueEntry) any { return person(ctx, e.By) }),
		"jump":       pick(func(e *pull.QueueEntry) any { return e.Jumped }),
		"position":   pick(func(e *pull.QueueEntry) any { return e.Position }),
		"solo":       always(false), // all are merged in groups
		"state":      pick(func(e *pull.QueueEntry) any { return string(e.State) }),
		"mergeQueue": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return o.of, nil }),
		"pullRequest": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return pullAt(o.repo, o.number, ""), nil
		}),
		"estimatedTimeToMerge": pick(func(e *pull.QueueEntry) any { return timeToMerge(e) }),
	}
}

// findQueues returns merge queues and entries by the ids of their repositories with their names: a branch, or the
// number of a pull request.
func (q *query) findQueues(ctx context.Context, ids []nodeID) []lookup {
	repos, err := q.repositoriesByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		in := repos[id.number]
		if in == nil {
			continue
		}
		branch := id.name
		if id.kind == "MergeQueueEntry" {
			number, ok := web.ParseNumber(id.name)
			if !ok {
				continue
			}
			v, err := pullOf(ctx, pullAt(in, number, ""))
			if err != nil {
				found[n].err = err
				continue
			}
			branch = v.Base.Ref
		}
		queue := &object{kind: "MergeQueue", name: branch, repo: in, whole: true}
		shown, err := queuesIn(q).get(ctx, q, queue)
		if found[n].err = err; err != nil || shown == nil {
			continue
		}
		queue.value = shown
		if id.kind == "MergeQueue" {
			found[n].value = queue
			continue
		}
		number, _ := web.ParseNumber(id.name)
		if e := shown.Find(number); e != nil {
			found[n].value = newQueueEntry(queue, e)
		}
	}
	return found
}

func enqueuePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	role := account.Push
	if m.flag("jump").Value {
		role = account.Admin
	}
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	to, a, err := m.changeAs(ctx, o.repo, mergePull, role)
	if err != nil {
		return nil, err
	}
	err = m.do.Pulls.Enqueue(to, a, byNumber(o), pull.QueueOptions{SHA: m.text("expectedHeadOid"),
		Jump: m.flag("jump").Value})
	if err != nil {
		return nil, err
	}
	if o, err = m.again(ctx, o); err != nil {
		return nil, err
	}
	e, err := m.queueEntry(ctx, o)
	return map[string]any{"mergeQueueEntry": orNullObject(e)}, err
}

// dequeuePullRequest takes a pull request out of its queue, and returns the entry that it had.
func dequeuePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "PullRequest")
	if err != nil {
		return nil, err
	}
	e, err := m.queueEntry(ctx, o)
	if err != nil {
		return nil, err
	}
	err = m.setPull(ctx, o, editPull, m.do.Pulls.Dequeue)
	return map[string]any{"mergeQueueEntry": orNullObject(e)}, err
}

// queueEntry returns the entry of a pull request, or nil.
func (m *mutation) queueEntry(ctx context.Context, o *object) (*object, error) {
	v, err := pullOf(ctx, o)
	if err != nil {
		return nil, err
	}
	queue := &object{kind: "MergeQueue", name: v.Base.Ref, repo: o.repo, whole: true}
	shown, err := queuesIn(m.query).get(ctx, m.query, queue)
	if err != nil || shown == nil {
		return nil, err
	}
	queue.value = shown
	return entryOf(o, queue), nil
}

// queueParameters are the parameters of the rule about a merge queue.
func queueParameters(p *rule.QueueRule) bare {
	return bare{"MergeQueueParameters", map[string]any{"checkResponseTimeoutMinutes": p.Timeout,
		"groupingStrategy": p.Grouping, "maxEntriesToBuild": p.MaxBuild, "maxEntriesToMerge": p.MaxMerge,
		"mergeMethod": p.Method, "minEntriesToMerge": p.MinMerge, "minEntriesToMergeWaitMinutes": p.MinWait}}
}

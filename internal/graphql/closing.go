package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/posting"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// closingIssues resolves the issues that a pull request closes when it is merged.
func closingIssues(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return numbered(ctx, f, parents, "IssueConnection", issueAt, loader[int64, []int64]{name: "closing issues",
		route: "/pulls/{number}", key: byNumber, read: queryOf(ctx).load.Pulls.Fixed})
}

// closedByPulls resolves the pull requests that close an issue when they are merged, or have closed it.
func closedByPulls(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, closed, byState := queryOf(ctx), f.Args["includeClosedPrs"] == true, f.Args["orderByState"] == true
	return numbered(ctx, f, parents, "PullRequestConnection", pullAt, loader[int64, []int64]{
		name: fmt.Sprint("closed by ", closed, byState), route: "/pulls", key: byNumber,
		read: func(ctx context.Context, issues []repo.Of[int64]) (map[repo.Of[int64]][]int64, error) {
			return q.load.Pulls.Fixing(ctx, issues, closed, byState)
		}})
}

// numbered resolves a connection of issues or pull requests whose numbers a loader finds. Arbor has no manual
// links.
func numbered(ctx context.Context, f *exec.Field, parents []exec.Object, kind string,
	at func(in *object, number int64, media string) *object, l loader[int64, []int64],
) []any {
	q, media, lists := queryOf(ctx), textMedia(f), make([][]*object, len(parents))
	values := l.values(ctx, parents, func(_ *object, numbers []int64) (any, error) { return numbers, nil })
	for n, o := range objectsOf(parents) {
		numbers, _ := values[n].([]int64)
		for _, number := range numbers {
			if f.Args["userLinkedOnly"] != true {
				lists[n] = append(lists[n], at(o.repo, number, media))
			}
		}
	}
	err := q.sortTracked(ctx, f, lists)
	for n := range parents {
		if _, failed := values[n].(error); failed {
			continue
		}
		if values[n] = orError(connectAll(f, kind, anyObjects(lists[n]))); err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// sortTracked sorts lists of issues or pull requests by orderBy, if it is given.
func (q *query) sortTracked(ctx context.Context, f *exec.Field, lists [][]*object) error {
	if _, ok := f.Args["orderBy"].(map[string]any); !ok {
		return nil
	}
	order, err := orderOf(f, posting.Order{}, map[string]posting.Sort{"CREATED_AT": posting.Created,
		"UPDATED_AT": posting.Updated, "COMMENTS": posting.Comments})
	if err != nil {
		return err
	}
	for _, err := range q.fill(ctx, slices.Concat(lists...), isKnown) {
		return err
	}
	for _, list := range lists {
		slices.SortStableFunc(list, func(a, b *object) int {
			x, y := viewOf(a), viewOf(b)
			by := map[posting.Sort]int{posting.Created: cmp.Compare(x.CreatedAt, y.CreatedAt),
				posting.Updated: cmp.Compare(x.UpdatedAt, y.UpdatedAt), posting.Comments: cmp.Compare(x.Comments, y.Comments)}
			n := cmp.Or(by[order.Sort], cmp.Compare(x.ID, y.ID))
			if !order.Asc {
				n = -n
			}
			return n
		})
	}
	return nil
}

// sameRepository returns the query's one object for a repository.
func (q *query) sameRepository(o *object) *object {
	if q.repositories == nil {
		q.repositories = map[string]*object{}
	}
	if q.repositories[o.name] == nil {
		q.repositories[o.name] = o
	}
	return q.repositories[o.name]
}

// mergeText resolves a part of the default message of a merge.
func mergeText(part func(t pull.MergeText) string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		method, _ := f.Args["mergeType"].(string)
		l := loader[int64, pull.MergeText]{name: "merge text " + method, route: "/pulls", key: byNumber,
			read: func(ctx context.Context, pulls []repo.Of[int64]) (map[repo.Of[int64]]pull.MergeText, error) {
				return q.load.Pulls.MergeTexts(ctx, pulls, strings.ToLower(method))
			}}
		return l.values(ctx, parents, func(_ *object, t pull.MergeText) (any, error) { return part(t), nil })
	}
}

// compare resolves comparisons of refs with another one, which may be in another repository: owner:branch.
func compare(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	head, _ := f.Args["headRef"].(string)
	what := "a Ref with the name '" + clip(head) + "'"
	l := loader[git.SHA, *gitdata.Comparison]{name: "compare " + head, route: "/compare/{basehead...}",
		key: func(o *object) git.SHA { return git.SHA(o.value.(*gitdata.RefPayload).Object.SHA) },
		read: func(
			ctx context.Context, bases []repo.Of[git.SHA],
		) (map[repo.Of[git.SHA]]*gitdata.Comparison, error) {
			return q.load.Git.CompareMany(ctx, bases, head)
		}}
	l.load(ctx, q, objects)
	for n, o := range objects {
		switch c, err := l.get(ctx, q, o); {
		case err != nil:
			values[n] = asError(orUnresolved(err, what))
		case c == nil:
			values[n] = asError(unresolved(what))
		default:
			values[n] = &object{kind: "Comparison", value: c, whole: true, repo: o.repo}
		}
	}
	return values
}

func comparisonFields() map[string]exec.Resolver {
	type comparison = *gitdata.Comparison
	return map[string]exec.Resolver{
		"id": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			c := o.value.(comparison)
			return inRepositoryID(ctx, o.repo, o.kind, string(c.Base+"..."+c.Head.Key))
		}),
		"aheadBy":  pick(func(c comparison) any { return c.Ahead }),
		"behindBy": pick(func(c comparison) any { return c.Behind }),
		"status":   pick(func(c comparison) any { return strings.ToUpper(c.Status) }),
		"baseTarget": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", string(o.value.(comparison).Base)), nil
		}),
		"headTarget": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(headOfComparison(o), "commit", string(o.value.(comparison).Head.Key)), nil
		}),
		"commits": connections(func(ctx context.Context, _ *exec.Field, o *object) (pages[*gitdata.CommitPayload], error) {
			in := headOfComparison(o)
			return pages[*gitdata.CommitPayload]{kind: "ComparisonCommitConnection", many: commitsAhead(queryOf(ctx)),
				key:   func(c *gitdata.CommitPayload) string { return c.SHA },
				count: func() (int, error) { return o.value.(comparison).Ahead, nil },
				node:  func(c *gitdata.CommitPayload) (any, error) { return listedCommit(in, c), nil },
				show:  func(c *connection) { c.compared = o }}, nil
		}),
	}
}

// headOfComparison returns the repository of the head of a comparison.
func headOfComparison(o *object) *object {
	if a := o.value.(*gitdata.Comparison).Head.In; a.FullName() != o.repo.name {
		return inRepositoryOf(a)
	}
	return o.repo
}

// commitsAhead loads the commits of comparisons.
func commitsAhead(q *query) listLoader[gitdata.AheadOf, *gitdata.CommitPayload] {
	l := loader[gitdata.AheadOf, *web.List[*gitdata.CommitPayload]]{name: "commits ahead",
		route: "/compare/{basehead...}", key: func(o *object) gitdata.AheadOf {
			c := o.value.(*gitdata.Comparison)
			return gitdata.AheadOf{Base: c.Base, Head: c.Head}
		}}
	return lists(l, q.load.Git.ListAhead)
}

// mostCompared limits how many hundreds of commits of a comparison are read for the number of their authors.
const mostCompared = 3

// authorsCompared resolves how many people wrote the commits of comparisons.
func authorsCompared(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values, compared := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
	for n, p := range parents {
		compared[n] = p.(*connection).compared
	}
	commitsAhead(q).loadAll(ctx, q, compared, mostCompared)
	for n, o := range compared {
		commits, err := commitsAhead(q).all(ctx, q, o, mostCompared)
		authors := map[string]bool{}
		for _, c := range commits {
			authors[c.Commit.Author.Email] = true
		}
		if values[n] = len(authors); err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// closingIssues resolves the issues that a pull request closes when it is merged.
func closingIssues(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return numbered(ctx, f, parents, "IssueConnection", issueAt, loader[int64, []int64]{name: "closing issues",
		route: "/pulls/{number}", key: byNumber, read: queryOf(ctx).load.Pulls.Fixed})
}

// closedByPulls resolves the pull requests that close an issue when they are merged, or have closed it.
func closedByPulls(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, closed := queryOf(ctx), f.Args["includeClosedPrs"] == true
	return numbered(ctx, f, parents, "PullRequestConnection", pullAt, loader[int64, []int64]{
		name: fmt.Sprint("closed by ", closed), route: "/pulls", key: byNumber,
		read: func(ctx context.Context, issues []repo.Of[int64]) (map[repo.Of[int64]][]int64, error) {
			return q.load.Pulls.Fixing(ctx, issues, closed)
		}})
}

// numbered resolves a connection of issues or pull requests whose numbers a loader finds.
func numbered(ctx context.Context, f *exec.Field, parents []exec.Object, kind string,
	at func(in *object, number int64, media string) *object, l loader[int64, []int64],
) []any {
	media := textMedia(f)
	return l.values(ctx, parents, func(o *object, numbers []int64) (any, error) {
		all := make([]any, len(numbers))
		for n, number := range numbers {
			all[n] = at(o.repo, number, media)
		}
		return connectAll(f, kind, all)
	})
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
			values[n] = bare{"Comparison", map[string]any{"aheadBy": c.Ahead, "behindBy": c.Behind,
				"status": strings.ToUpper(c.Status)}}
		}
	}
	return values
}

package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// closingIssues resolves the issues that a pull request closes when it is merged.
func closingIssues(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	media := textMedia(f)
	l := loader[int64, []int64]{name: "closing issues", route: "/pulls/{number}", key: byNumber,
		read: queryOf(ctx).load.Pulls.Fixed}
	return l.values(ctx, parents, func(o *object, numbers []int64) (any, error) {
		all := make([]any, len(numbers))
		for n, number := range numbers {
			all[n] = issueAt(o.repo, decimal(number), media)
		}
		return connectAll(f, "IssueConnection", all)
	})
}

// closedByPulls resolves the pull requests that close an issue when they are merged, or have closed it.
func closedByPulls(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, closed, media := queryOf(ctx), f.Args["includeClosedPrs"] == true, textMedia(f)
	l := loader[int64, []int64]{name: fmt.Sprint("closed by ", closed), route: "/pulls", key: byNumber,
		read: func(ctx context.Context, issues []repo.Of[int64]) (map[repo.Of[int64]][]int64, error) {
			return q.load.Pulls.Fixing(ctx, issues, closed)
		}}
	return l.values(ctx, parents, func(o *object, numbers []int64) (any, error) {
		all := make([]any, len(numbers))
		for n, number := range numbers {
			all[n] = pullAt(o.repo, decimal(number), media)
		}
		return connectAll(f, "PullRequestConnection", all)
	})
}

// issueAt returns an issue by its number. media is the form of its texts.
func issueAt(in *object, number, media string) *object {
	return &object{kind: "Issue", data: payload{}.with("number", json.RawMessage(number)), repo: in,
		source: source{Path: in.path("issues", number), Media: media}}
}

// numberedThings loads full issues, and the issues of pull requests, by number.
func numberedThings(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "issues and pulls", route: "/issues/{number}", media: o.source.Media, key: byNumber}
	return full(l, q.load.Issues.Numbered)
}

// numberedIssues loads full issues by number.
func numberedIssues(q *query, o *object) loader[int64, payload] {
	l := numberedThings(q, o)
	l.name, l.check = "issues", issuesEnabled
	all := l.read
	l.read = func(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]payload, error) {
		found, err := all(ctx, list)
		maps.DeleteFunc(found, func(_ repo.Of[int64], data payload) bool { return data.get("pull_request") != nil })
		return found, err
	}
	return l
}

// issuesEnabled returns 410 for a repository with issues switched off.
func issuesEnabled(a *repo.Access) error { return issue.Enabled(a.Repo, nil) }

// isNumber reports whether only the number of an object is loaded.
func isNumber(o *object) bool { return len(o.data) == 1 }

// sameRepository returns the query's one object for a repository.
func (q *query) sameRepository(o *object) *object {
	if q.repositories == nil {
		q.repositories = map[string]*object{}
	}
	if q.repositories[o.source.Path] == nil {
		q.repositories[o.source.Path] = o
	}
	return q.repositories[o.source.Path]
}

// mergeText resolves a part of the default message of a merge.
func mergeText(part func(t pull.MergeText) string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		method, _ := f.Args["mergeType"].(string)
		l := loader[int64, pull.MergeText]{name: "merge text " + method, route: "/pulls", key: byNumber,
			read: func(ctx context.Context, pulls []repo.Of[int64]) (map[repo.Of[int64]]pull.MergeText, error) {
				return q.load.Pulls.MergeTexts(ctx, pulls, strings.ToLower(method))
			},
			size: func(t pull.MergeText) int64 { return int64(len(t.Headline) + len(t.Body)) }}
		return l.values(ctx, parents, func(_ *object, t pull.MergeText) (any, error) { return part(t), nil })
	}
}

// compare resolves comparisons of refs with another one, which may be in another repository: owner:branch.
func compare(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	head, _ := f.Args["headRef"].(string)
	what := "a Ref with the name '" + clip(head) + "'"
	l := loader[git.SHA, *gitdata.Comparison]{name: "compare " + head, route: "/compare/{basehead...}",
		key: func(o *object) git.SHA {
			to, _ := members(o.data.get("object"))
			return git.SHA(textOf(to, "sha"))
		},
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

// numberOf returns the number of an issue or a pull request.
func numberOf(o *object) string { return string(o.data.get("number")) }

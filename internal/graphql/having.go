package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// issueAndPullLists returns the lists of issues and pull requests that have a label or a milestone.
func issueAndPullLists(kind posting.Kind) map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"issues": connections(func(ctx context.Context, f *exec.Field, o *object) (pages[*issue.View], error) {
			q, media := queryOf(ctx), textMedia(f)
			options, err := issueOptions(f)
			l := loader[int64, *web.List[*issue.View]]{name: fmt.Sprintf("issues having %d %+v", kind, options),
				route: "/issues", media: media, key: byID}
			p := issuePages(o.repo, options, media)
			p.many = lists(l, func(ctx context.Context, list []repo.Of[int64], at web.Page) (
				map[repo.Of[int64]]*web.List[*issue.View], error) {
				return q.load.Issues.ListHaving(ctx, kind, list, options, at)
			})
			return p, err
		}),
		"pullRequests": connections(func(ctx context.Context, f *exec.Field, o *object) (pages[*pull.View], error) {
			q, media := queryOf(ctx), textMedia(f)
			options, err := pullOptions(f)
			l := loader[int64, *web.List[*pull.View]]{name: fmt.Sprintf("pulls having %d %+v", kind, options),
				route: "/pulls", media: media, key: byID}
			p := pullPages(o.repo, options, media)
			p.many = lists(l, func(ctx context.Context, list []repo.Of[int64], at web.Page) (
				map[repo.Of[int64]]*web.List[*pull.View], error) {
				return q.load.Pulls.ListHaving(ctx, kind, list, options, at)
			})
			return p, err
		}),
	}
}

// pullsFrom resolves the pull requests from branches.
func pullsFrom(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return connections(func(ctx context.Context, f *exec.Field, o *object) (pages[*pull.View], error) {
		q, media := queryOf(ctx), textMedia(f)
		options, err := pullOptions(f)
		l := loader[string, *web.List[*pull.View]]{name: fmt.Sprintf("pulls from %+v", options), route: "/pulls",
			media: media, key: func(o *object) string { return strings.TrimPrefix(o.name, heads) }}
		p := pullPages(o.repo, options, media)
		p.many = lists(l, func(ctx context.Context, list []repo.Of[string], at web.Page) (
			map[repo.Of[string]]*web.List[*pull.View], error) {
			return q.load.Pulls.ListFrom(ctx, list, options, at)
		})
		return p, err
	})(ctx, f, parents)
}

package graphql

import (
	"context"

	"arbor/internal/graphql/exec"
)

// templatesOf are what a repository says of new issues and pull requests.
func (q *query) templatesOf(ctx context.Context, o *object) (payload, error) {
	return q.object(ctx, Question{Path: o.path("contents"), Handler: q.with.Templates})
}

// repositoryTemplates are the fields of a repository about new issues and pull requests.
func repositoryTemplates() map[string]exec.Resolver {
	list := func(member, kind string, fields ...string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := queryOf(ctx).templatesOf(ctx, o)
			if err != nil {
				return nil, err
			}
			found, err := objectsIn(data.get(member))
			all := make([]any, len(found))
			for n, t := range found {
				values := map[string]any{"repository": o}
				for _, name := range fields {
					values[name] = decode(t.get(name))
				}
				all[n] = bare{kind, values}
			}
			return all, err
		})
	}
	return map[string]exec.Resolver{
		"issueTemplates":       list("issues", "IssueTemplate", "filename", "name", "about", "title", "body"),
		"pullRequestTemplates": list("pulls", "PullRequestTemplate", "filename", "body"),
		"contactLinks":         list("links", "RepositoryContactLink", "name", "about", "url"),
		"isBlankIssuesEnabled": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := queryOf(ctx).templatesOf(ctx, o)
			return string(data.get("no_blank")) != "true", err
		}),
	}
}

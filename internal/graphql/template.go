package graphql

import (
	"context"

	"arbor/internal/graphql/exec"
)

// templates loads the templates of new issues and pull requests of repositories.
func templates(q *query) loader[string, payload] {
	return fullOnce("templates", "/contents", q.load.Git.Templates)
}

// repositoryTemplates are the fields of a repository about new issues and pull requests.
func repositoryTemplates() map[string]exec.Resolver {
	each := func(show func(o *object, data payload) (any, error)) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return templates(queryOf(ctx)).values(ctx, parents, show)
		}
	}
	list := func(member, kind string, fields ...string) exec.Resolver {
		return each(func(o *object, data payload) (any, error) {
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
		"isBlankIssuesEnabled": each(func(_ *object, data payload) (any, error) {
			return string(data.get("no_blank")) != "true", nil
		}),
	}
}

package graphql

import (
	"context"

	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
)

// repositoryTemplates are the fields of a repository about new issues and pull requests.
func repositoryTemplates() map[string]exec.Resolver {
	each := func(show func(o *object, t *gitdata.Templates) any) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			l := perRepository("templates", "/contents", queryOf(ctx).load.Git.Templates)
			return l.values(ctx, parents, func(o *object, t *gitdata.Templates) (any, error) {
				if t == nil {
					t = &gitdata.Templates{}
				}
				return show(o, t), nil
			})
		}
	}
	return map[string]exec.Resolver{
		"issueTemplates": each(func(o *object, t *gitdata.Templates) any {
			all := []any{}
			for _, i := range t.Issues {
				fields := map[string]any{"repository": o, "filename": i.File, "name": i.Name, "body": i.Skeleton()}
				if i.HasAbout {
					fields["about"] = i.About
				}
				if i.HasTitle {
					fields["title"] = i.Title
				}
				all = append(all, bare{"IssueTemplate", fields})
			}
			return all
		}),
		"pullRequestTemplates": each(func(o *object, t *gitdata.Templates) any {
			all := []any{}
			for _, p := range t.Pulls {
				all = append(all, bare{"PullRequestTemplate", map[string]any{"repository": o, "filename": p.Filename,
					"body": p.Body}})
			}
			return all
		}),
		"contactLinks": each(func(_ *object, t *gitdata.Templates) any {
			all := []any{}
			for _, l := range t.Links {
				all = append(all, bare{"RepositoryContactLink", map[string]any{"name": l.Name, "about": l.About,
					"url": l.URL}})
			}
			return all
		}),
		"isBlankIssuesEnabled": each(func(_ *object, t *gitdata.Templates) any { return !t.NoBlank }),
	}
}

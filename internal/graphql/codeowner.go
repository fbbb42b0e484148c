package graphql

import (
	"context"

	"arbor/internal/codeowner"
	"arbor/internal/graphql/exec"
)

// codeOwners resolves the errors of the CODEOWNERS file at a ref. Without a file it is null.
func codeOwners(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	ref, _ := f.Args["refName"].(string)
	q := queryOf(ctx)
	l := loader[string, *codeowner.ErrorsPayload]{name: "code owners " + ref, route: "/codeowners/errors",
		key: func(*object) string { return ref }, read: q.load.Owners.Errors}
	return l.values(ctx, parents, func(_ *object, found *codeowner.ErrorsPayload) (any, error) {
		if found == nil {
			return nil, nil
		}
		list := make([]any, len(found.Errors))
		for n, e := range found.Errors {
			list[n] = bare{"RepositoryCodeownersError", map[string]any{"line": e.Line, "column": e.Column, "kind": e.Kind,
				"source": e.Source, "suggestion": e.Suggestion, "message": e.Message, "path": e.Path}}
		}
		return bare{"RepositoryCodeowners", map[string]any{"errors": list}}, nil
	})
}

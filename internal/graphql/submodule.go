package graphql

import (
	"context"
	"encoding/base64"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
)

// submodulesOfCommits resolves the submodules of commits, in the order of .gitmodules.
func submodulesOfCommits(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	l := loader[git.SHA, []gitdata.Submodule]{name: "submodules", route: "/contents/{path...}", key: bySHA,
		read: queryOf(ctx).load.Git.Submodules}
	return l.values(ctx, parents, func(_ *object, list []gitdata.Submodule) (any, error) {
		return connectSubmodules(f, list)
	})
}

// submodules resolves the submodules of the default branches of repositories.
func submodules(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	l := perRepository("default submodules", "/contents/{path...}", queryOf(ctx).load.Git.DefaultSubmodules)
	return l.values(ctx, parents, func(_ *object, list []gitdata.Submodule) (any, error) {
		return connectSubmodules(f, list)
	})
}

func connectSubmodules(f *exec.Field, list []gitdata.Submodule) (any, error) {
	raw := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	all := make([]any, len(list))
	for n, m := range list {
		all[n] = bare{"Submodule", map[string]any{"name": m.Name, "nameRaw": raw(m.Name), "path": m.Path,
			"pathRaw": raw(m.Path), "gitUrl": m.URL, "branch": orNil(m.Branch), "subprojectCommitOid": orNil(string(m.SHA))}}
	}
	return connectAll(f, "SubmoduleConnection", all)
}

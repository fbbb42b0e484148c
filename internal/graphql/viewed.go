package graphql

import (
	"cmp"
	"context"

	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
)

// viewedState returns DISMISSED for a file that has changed since it was viewed.
func viewedState(viewed map[string]string, file *gitdata.ChangedFile) string {
	switch viewed[file.Filename] {
	case "":
		return "UNVIEWED"
	case orEmpty(file.SHA):
		return "VIEWED"
	}
	return "DISMISSED"
}

func markViewed(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.setViewed(ctx, true)
}

func unmarkViewed(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.setViewed(ctx, false)
}

// mostFiles limits how many hundreds of files of a pull request are read.
const mostFiles = 30

// setViewed marks the present version of a file as viewed by the caller, or as not viewed.
func (m *mutation) setViewed(ctx context.Context, viewed bool) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	path, blob := m.text("path"), ""
	if viewed {
		list, err := fileLists(m.query).all(ctx, m.query, o, mostFiles)
		if err != nil {
			return nil, err
		}
		for _, file := range list {
			if file.Filename == path {
				blob = orEmpty(file.SHA)
			}
		}
		if blob == "" {
			return nil, unresolved("a file of the pull request with the path '" + clip(path) + "'")
		}
	}
	err = m.setPull(ctx, o, editPull, func(ctx context.Context, a *repo.Access, number int64) error {
		return m.do.Reviews.MarkViewed(ctx, a, number, path, blob)
	})
	return map[string]any{"pullRequest": o}, err
}

// changeTypes are REST's words for changes of files that differ from GraphQL's.
var changeTypes = map[string]string{"removed": "DELETED", "unchanged": "CHANGED"}

func changedFileFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"path":      pick(func(c *gitdata.ChangedFile) any { return c.Filename }),
		"additions": pick(func(c *gitdata.ChangedFile) any { return c.Additions }),
		"deletions": pick(func(c *gitdata.ChangedFile) any { return c.Deletions }),
		"changeType": pick(func(c *gitdata.ChangedFile) any {
			return cmp.Or(changeTypes[c.Status], enumName(c.Status))
		}),
		"viewerViewedState": viewedStates,
	}
}

// viewedStates resolves whether the caller viewed files of pull requests.
func viewedStates(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := loader[int64, map[string]string]{name: "viewed", route: "/pulls/{number}/files", key: byNumber,
		read: q.load.Reviews.Viewed,
		size: func(blobs map[string]string) int64 { return int64(len(blobs)) * nodeBytes }}
	pulls := make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		pulls[n] = o.of
	}
	l.load(ctx, q, pulls)
	for n, p := range parents {
		viewed, err := l.get(ctx, q, pulls[n])
		if values[n] = viewedState(viewed, p.(*object).value.(*gitdata.ChangedFile)); err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
)

// pinnedIssues resolves the pinned issues of repositories.
func pinnedIssues(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, media := queryOf(ctx), textMedia(f)
	l := perRepository("pinned issues", "/issues", q.load.Issues.Pins)
	l.load(ctx, q, objectsOf(parents))
	var who []int64
	for _, o := range objectsOf(parents) {
		pins, _ := l.known(q, o)
		for _, p := range pins {
			who = append(who, int64(p.By))
		}
	}
	people, err := q.accountsByID(ctx, who)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	return l.values(ctx, parents, func(o *object, pins []issue.Pin) (any, error) {
		all := make([]any, 0, len(pins))
		for _, p := range pins {
			if by, there := people[p.By]; there {
				all = append(all, bare{"PinnedIssue", map[string]any{"id": account.NodeID("PinnedIssue", int64(p.ID)),
					"databaseId": int64(p.ID), "fullDatabaseId": decimal(int64(p.ID)), "issue": issueAt(o, p.Number, media),
					"pinnedBy": fullAccount(by), "repository": o}})
			}
		}
		return connectAll(f, "PinnedIssueConnection", all)
	})
}

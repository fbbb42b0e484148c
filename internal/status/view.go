package status

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Latest reads a page of the latest statuses of a commit by context, and how many contexts there are. The commit was
// found for the caller before.
func (s *Service) Latest(
	ctx context.Context, a *repo.Access, sha git.SHA, at web.Page,
) (list []*Status, contexts int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		commit := repo.Of[git.SHA]{In: a, Key: sha}
		sums, err := Combined(tx, []repo.Of[git.SHA]{commit})
		if list, contexts = nil, sums[commit].Contexts; err == nil && contexts > 0 {
			list, err = latestOfAll(tx, a.ID, sha, at)
		}
		return err
	})
	return list, contexts, err
}

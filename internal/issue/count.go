package issue

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// OpenPulls counts the open pull requests of a repository. repo.Repo.OpenIssues counts them together with
// issues.
func (s *Service) OpenPulls(ctx context.Context, id repo.ID) (n int64, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (int64, error) {
		return posting.TotalIn(tx, id, posting.ByPull.Of(0), issuekit.Open)
	})
}

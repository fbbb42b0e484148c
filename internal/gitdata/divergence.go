package gitdata

import (
	"context"
	"errors"
	"time"

	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
)

// Limits of the comparison for one page of branches.
const (
	maxDivergent   = 20_000      // commits
	divergenceTime = time.Second // of git's run time
)

// Divergences returns how far the first of the commits are ahead of and behind the commit base. Commits that take too
// long to compare are omitted. The caller must have access to the commits.
func (s *Service) Divergences(
	ctx context.Context, a *repo.Access, base git.SHA, commits []git.SHA,
) (map[git.SHA]history.Divergence, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, divergenceTime)
	defer cancel()
	found, err := history.Divergences(limited, objects, base, commits, maxDivergent)
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		err = nil // the page shows the others
	}
	return found, err
}

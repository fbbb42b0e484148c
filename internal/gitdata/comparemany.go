package gitdata

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Comparison is how a head stands to a commit.
type Comparison struct {
	Ahead, Behind int
	Status        string // as in the answer of Compare
}

// CompareMany compares the head that BASE...HEAD names with each of the objects, which were found for the
// caller before. Objects that lead to no commit, or have no history in common with the head, are missing.
// Errors: those of Compare for the head.
func (api *API) CompareMany(
	ctx context.Context, a *repo.Access, basehead string, shas []git.SHA,
) (map[git.SHA]*Comparison, error) {
	c, err := api.comparison(ctx, basehead, a)
	if err == nil {
		c.head.sha, err = api.revision(ctx, c.head.at, c.head.name, true)
	}
	if err != nil {
		return nil, err
	}
	objects, release, err := api.repos.GitOfBoth(ctx, c.head.at, a)
	if err != nil {
		return nil, err
	}
	defer release()
	out := map[git.SHA]*Comparison{}
	for _, sha := range shas {
		one := comparison{}
		base, err := objects.PeelToCommit(ctx, sha)
		if err == nil {
			_, err = objects.MergeBase(ctx, base, c.head.sha)
		}
		if err == nil {
			one.behind, one.ahead, _, err = objects.Diverged(ctx, base, c.head.sha, 0, 0)
		}
		switch {
		case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid):
			continue
		case err != nil:
			return nil, err
		}
		out[sha] = &Comparison{one.ahead, one.behind, one.status()}
	}
	return out, nil
}

package gitdata

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Comparison is the relation of a head to a commit.
type Comparison struct {
	Ahead, Behind int
	Status        string // as in the response of Compare
}

// CompareMany compares the head of BASE...HEAD with several objects. The caller must have access to these.
// Objects that are not commits or annotated tags of commits, or share no history with the head, are
// missing. Errors: those of Compare for the head.
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

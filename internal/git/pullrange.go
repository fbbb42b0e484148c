package git

import (
	"context"
	"math"

	"arbor/internal/errs"
)

// MaxPullCommits is how many commits a pull request shows (decision 39).
const MaxPullCommits = 250

// PullBase is what the changes of a pull request are shown against: the merge
// base, or the empty tree when a forced push left the two without one.
func (r *Repository) PullBase(ctx context.Context, base, head SHA) (SHA, error) {
	common, err := r.MergeBase(ctx, base, head)
	if !errs.Is(err, errs.NotFound) {
		return common, err
	}
	if _, err := r.Commits(ctx, []SHA{base, head}); err != nil {
		return "", err
	}
	return EmptyTree, nil
}

// PullCommits lists the commits that head has and base has not, the oldest
// first: at most 250 (decision 39), and how many there are in all. No commits,
// and no process, where head is base.
func (r *Repository) PullCommits(ctx context.Context, base, head SHA) (page []SHA, total int, err error) {
	if base == head {
		return nil, 0, head.Check()
	}
	page, total, _, err = r.Log(ctx, LogOptions{From: []SHA{head}, Not: []SHA{base}, Max: MaxPullCommits,
		Count: math.MaxInt32, Reverse: true})
	return page, total, err
}

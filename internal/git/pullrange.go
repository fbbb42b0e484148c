package git

import (
	"context"
	"math"

	"arbor/internal/errs"
)

// GitHub's bounds of what a pull request or a commit shows (decision 39).
const (
	MaxPullCommits = 250
	MaxFiles       = 3000

	maxPatchLines = 3000
	maxPatchBytes = 1 << 20
	maxPatchesSum = 8 << 20
)

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

// FilePage are GitHub's bounds for a page of changed files: none past 3,000,
// patches only up to 3,000 lines and a megabyte, all patches of the page up to
// eight (decision 39).
func FilePage(skip, most int64) DiffOptions {
	skip = min(max(skip, 0), MaxFiles)
	return DiffOptions{Skip: int(skip), Max: int(max(0, min(most, MaxFiles-skip))),
		Lines: maxPatchLines, Bytes: maxPatchBytes, Sum: maxPatchesSum}
}

// Files gives a page of the files that head changed since mergeBase, with the
// totals of all; see FilePage for the bounds.
func (r *Repository) Files(ctx context.Context, mergeBase, head SHA, skip, most int64) (*Changes, error) {
	return r.Diff(ctx, mergeBase, head, FilePage(skip, most))
}

// FilesNamed gives those of the files that head changed since mergeBase which
// have or had one of the names, with patches up to the bounds of FilePage.
func (r *Repository) FilesNamed(ctx context.Context, mergeBase, head SHA, names []string) (*Changes, error) {
	o := FilePage(0, MaxFiles)
	o.Paths = make(map[string]bool, len(names))
	for _, n := range names {
		o.Paths[n] = true
	}
	return r.Diff(ctx, mergeBase, head, o)
}

// StatusName is GitHub's word for what happened to the file.
func (f *FileChange) StatusName() string {
	switch f.Status {
	case 'A':
		return "added"
	case 'D':
		return "removed"
	case 'R':
		return "renamed"
	case 'C':
		return "copied"
	case 'T':
		return "changed"
	default:
		return "modified"
	}
}

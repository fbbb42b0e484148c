package diff

import (
	"context"
	"slices"

	"arbor/internal/git"
)

// MaxFiles is how many changed files of a pull request or a commit can be listed
// (decision 39).
const MaxFiles = 3000

// GitHub's bounds of the patches on one page (decision 39).
const (
	maxPatchLines = 3000
	maxPatchBytes = 1 << 20
	maxPatchesSum = 8 << 20
)

// Page returns GitHub's bounds for a page of changed files: none past 3,000,
// patches only up to 3,000 lines and a megabyte, all patches of the page up to
// eight (decision 39).
func Page(skip, most int64) Options {
	skip = min(max(skip, 0), MaxFiles)
	return Options{Skip: int(skip), Max: int(max(0, min(most, MaxFiles-skip))),
		Lines: maxPatchLines, Bytes: maxPatchBytes, Sum: maxPatchesSum}
}

// FilesNamed is [Compare] for the files that have or had one of the names, with
// patches up to the bounds of [Page].
func FilesNamed(ctx context.Context, r *git.Repository, from, to git.SHA, names []string) (*Changes, error) {
	o := Page(0, MaxFiles)
	o.Paths = make(map[string]bool, len(names))
	for _, n := range names {
		o.Paths[n] = true
	}
	return Compare(ctx, r, from, to, o)
}

// StatusName is GitHub's word for what happened to the file.
func (f *File) StatusName() string {
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

// Names lists the paths that differ between two trees, or the trees of two commits, without a process. It
// returns at most MaxFiles, and reads at most *budget trees, which it subtracts from *budget. A rename is one
// removed path and one added.
func Names(ctx context.Context, r *git.Repository, from, to git.SHA, budget *int) (
	added, removed, modified []string, err error,
) {
	files, _, err := Differing(ctx, r, from, to, budget)
	for _, f := range files {
		switch f.Status {
		case 'A':
			added = append(added, f.Path)
		case 'D':
			removed = append(removed, f.Path)
		default:
			modified = append(modified, f.Path)
		}
	}
	return added, removed, modified, err
}

// Differing lists the files that differ between two trees, or the trees of two commits, without a process,
// counts or patches. whole is false if there are more than it looked at: at most MaxFiles, and *budget trees,
// which it subtracts from *budget. A rename is one removed file and one added.
func Differing(ctx context.Context, r *git.Repository, from, to git.SHA, budget *int) (
	files []File, whole bool, err error,
) {
	if *budget <= 0 {
		return nil, false, nil
	}
	given := min(*budget, maxComparing)
	d, err := compareFrom(ctx, r, from, to, maxComparing-given)
	if err != nil {
		return nil, false, err
	}
	*budget -= d.trees - (maxComparing - given) + 1
	return d.files, d.whole && d.total <= len(d.files), nil
}

// OfCommit lists the files that a commit changes, as Differing does: of a merge those that differ from all its parents.
func OfCommit(ctx context.Context, r *git.Repository, c *git.Commit, budget *int) (
	list []File, whole bool, err error,
) {
	parents := c.Parents
	if len(parents) == 0 {
		parents = []git.SHA{git.EmptyTree}
	}
	for n, parent := range parents {
		files, whole, err := Differing(ctx, r, parent, c.SHA, budget)
		if err != nil || !whole {
			return nil, false, err
		}
		if n == 0 {
			list = files
			continue
		}
		also := map[string]bool{}
		for _, f := range files {
			also[f.Path] = true
		}
		list = slices.DeleteFunc(list, func(f File) bool { return !also[f.Path] })
	}
	return list, true, nil
}

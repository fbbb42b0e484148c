package diff

import (
	"context"

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

// Page gives GitHub's bounds for a page of changed files: none past 3,000,
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

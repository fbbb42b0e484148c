package diff

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/process"
)

// File is what a commit, or a range of commits, does to one file.
type File struct {
	Status    byte   // A added, D deleted, M modified, R renamed, C copied, T type changed
	Path      string // the new one; of a deleted file the old one
	OldPath   string // where it differs: of a renamed or copied file
	OldMode   git.Mode
	Mode      git.Mode
	OldSHA    git.SHA // zero where there was none
	SHA       git.SHA // zero where there is none
	Additions int
	Deletions int
	Binary    bool
	Unread    bool   // git did not compare its text: no patch, no line counts
	Patch     string // hunks as in a unified diff, without the last newline; see HasPatch
	HasPatch  bool   // Patch is all of it: not binary and not over the bounds

	header string // the line that opens its part of the patch
}

// Changes are the changes from one tree to another.
type Changes struct {
	Files     []File // those that were asked for
	Total     int    // files changed
	Additions int    // lines, of all files
	Deletions int
	Cut       bool // there is more than is compared: not all lines are counted, and Total may be too low

	List []Listed // all files up to MaxFiles, with Options.List
}

// Listed is a changed file without its changes.
type Listed struct {
	Path      string
	SHA       git.SHA // of the old version where there is no new one
	Additions int
	Deletions int
}

// Options say which of the changed files are given.
type Options struct {
	Skip  int // files left out at the start
	Max   int // files given
	Lines int // a longer patch of a file is left out
	Bytes int // so is one of more bytes
	Sum   int // bytes of all patches given; further ones are left out

	List  bool            // all files are listed, too
	Paths map[string]bool // nil: any; else only files that have or had one of these names
}

// Compare compares two trees, which commits may stand for, with one git process
// that ends when the wanted files are read; renames are detected where that is
// cheap. Memory is bounded by the options, not by the trees: if the changes are too many
// for git to compare, only the files are given, see Changes.Cut. If their text is too
// much, git compares files of those that are given, as far as the bound goes.
func Compare(ctx context.Context, r *git.Repository, from, to git.SHA, o Options) (*Changes, error) {
	known, flags, err := plan(ctx, r, from, to)
	if err != nil {
		return nil, err
	}
	if known.total == 0 {
		return &Changes{}, nil
	}
	if !known.whole {
		return known.page(o), nil
	}
	large, err := known.large(ctx, r)
	if err != nil {
		return nil, err
	}
	if large {
		return known.part(ctx, r, from, to, flags, o)
	}
	d := &outputReader{o: o}
	c := process.Command{Sub: "diff-tree", Flags: append(flags, "-p", "--raw", "--numstat"),
		Revs: []git.SHA{from, to}}
	err = d.from(ctx, r, c)
	if errs.Is(err, errs.Invalid) { // git outgrew what it may take
		return known.page(o), nil
	}
	return &d.changes, err
}

// plan finds out how much there is to compare, and how git may do it.
func plan(
	ctx context.Context, r *git.Repository, from, to git.SHA,
) (known *treeDiff, flags []string, err error) {
	if known, err = compareTrees(ctx, r, from, to); err != nil {
		return nil, nil, err
	}
	renames := exactRenames
	if known.whole {
		if renames, err = known.renames(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	return known, []string{"-r", renames, "-l1000", "--no-ext-diff", "--no-textconv", "--no-color"}, nil
}

package git

import (
	"bufio"
	"context"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git/process"
)

// FileChange is what a commit, or a range of commits, does to one file.
type FileChange struct {
	Status    byte   // A added, D deleted, M modified, R renamed, C copied, T type changed
	Path      string // the new one; of a deleted file the old one
	OldPath   string // where it differs: of a renamed or copied file
	OldMode   Mode
	Mode      Mode
	OldSHA    SHA // zero where there was none
	SHA       SHA // zero where there is none
	Additions int
	Deletions int
	Binary    bool
	Patch     string // hunks as in a unified diff, without the last newline; see HasPatch
	HasPatch  bool   // Patch is all of it: not binary and not over the bounds

	header string // the line that opens its part of the patch
}

// Changes are the changes from one tree to another.
type Changes struct {
	Files     []FileChange // those that were asked for
	Total     int          // files changed
	Additions int          // lines, of all files
	Deletions int
	Cut       bool // there is more than is compared: lines are not counted, and Total may be too low
}

// DiffOptions say which of the changed files are given.
type DiffOptions struct {
	Skip  int // files left out at the start
	Max   int // files given
	Lines int // a longer patch of a file is left out
	Bytes int // so is one of more bytes
	Sum   int // bytes of all patches given; further ones are left out

	Paths map[string]bool // nil: any; else only files that have or had one of these names
}

// Diff compares two trees, which commits may stand for, with one git process
// that ends when the wanted files are read; renames are detected where that is
// cheap. Memory is bounded by the options, not by the trees: if the changes are too many
// for git to compare, only the files are given, see Changes.Cut.
func (r *Repository) Diff(ctx context.Context, from, to SHA, o DiffOptions) (*Changes, error) {
	known, flags, err := r.planDiff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if known.total == 0 {
		return &Changes{}, nil
	}
	if !known.whole {
		return known.page(o), nil
	}
	d := &diffReader{o: o}
	c := process.Command{Sub: "diff-tree", Flags: append(flags, "--raw", "--numstat"), Revs: []SHA{from, to}}
	err = r.stream(ctx, c, func(in *bufio.Reader) error {
		d.in = in
		return d.read()
	})
	if errs.Is(err, errs.Invalid) { // git outgrew what it may take
		return known.page(o), nil
	}
	return &d.changes, err
}

// planDiff finds out how much there is to compare, and how git may do it.
func (r *Repository) planDiff(
	ctx context.Context, from, to SHA,
) (known *treeDiff, flags []string, err error) {
	if known, err = r.compareTrees(ctx, from, to); err != nil {
		return nil, nil, err
	}
	renames := exactRenames
	if known.whole {
		if renames, err = known.renames(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	return known, []string{"-r", "-p", renames, "-l1000", "--no-ext-diff", "--no-textconv", "--no-color"}, nil
}

// WriteDiff writes the changes from one tree to another as `git diff` does, of any
// size: the server keeps 64 KiB of it, and git one file's two versions. A diff of
// 200 MB in many files took 10 MB of memory here and 3 in git; one of a single
// file, 60 MB before and after, 470 in git, which is the most: what is larger than
// core.bigFileThreshold is told of as binary. Error: Invalid, before anything is
// written, for more changes than git is asked to compare.
func (r *Repository) WriteDiff(ctx context.Context, w io.Writer, from, to SHA) error {
	known, flags, err := r.planDiff(ctx, from, to)
	if err != nil {
		return err
	}
	if !known.whole {
		return errTooManyChanges()
	}
	return r.copyOut(ctx, w, process.Command{Sub: "diff-tree", Flags: flags, Revs: []SHA{from, to}})
}

func errTooManyChanges() error {
	return errs.Newf(errs.Invalid,
		"the changes are too many to be shown as text (maximum is %d files)", maxChanged)
}

// WritePatches writes the commits that to has and none of not has, as `git
// format-patch` does: the oldest first, without merges; of any size, as WriteDiff.
func (r *Repository) WritePatches(ctx context.Context, w io.Writer, to SHA, not ...SHA) error {
	c := process.Command{Sub: "format-patch", Flags: []string{"--stdout", "--no-ext-diff", "--no-color"},
		Revs: []SHA{to}, Not: not}
	if len(not) == 0 {
		c.Flags = append(c.Flags, "--root")
	}
	if err := r.checkPatches(ctx, to, not); err != nil {
		return err
	}
	return r.copyOut(ctx, w, c)
}

// maxPatches is how many commits can be had as patches.
const maxPatches = 1000

// checkPatches makes sure that git can compare each of the commits with its parent.
func (r *Repository) checkPatches(ctx context.Context, to SHA, not []SHA) error {
	list, err := r.NewCommits(ctx, []SHA{to}, not, maxPatches+1)
	if err != nil {
		return err
	}
	if len(list) > maxPatches {
		return errs.Newf(errs.Invalid,
			"the commits are too many to be shown as patches (maximum is %d)", maxPatches)
	}
	return r.EachCommits(ctx, list, func(part []*Commit) error {
		for _, c := range part {
			from := EmptyTree
			switch len(c.Parents) {
			case 0:
			case 1:
				from = c.Parents[0]
			default:
				continue // format-patch leaves merges out
			}
			if known, err := r.compareTrees(ctx, from, c.Tree); err != nil {
				return err
			} else if !known.whole {
				return errTooManyChanges()
			}
		}
		return nil
	})
}

func (r *Repository) copyOut(ctx context.Context, w io.Writer, c process.Command) error {
	return r.stream(ctx, c, func(in *bufio.Reader) error {
		_, err := in.WriteTo(w)
		return err
	})
}

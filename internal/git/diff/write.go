package diff

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/process"
)

// Write writes the changes from one tree to another as `git diff` does, of any
// size: the server keeps 64 KiB of it, and git one file's two versions. A diff of
// 200 MB in many files took 10 MB of memory here and 3 in git; one of a single
// file, 60 MB before and after, 470 in git, which is the most: what is larger than
// core.bigFileThreshold is reported as binary. Error: NotAcceptable, before anything
// is written, for more changes than git is asked to compare.
func Write(ctx context.Context, w io.Writer, r *git.Repository, from, to git.SHA) error {
	known, flags, err := plan(ctx, r, from, to)
	if err != nil {
		return err
	}
	if !known.whole {
		return errTooManyChanges()
	}
	if sum, err := known.size(ctx, r); err != nil {
		return err
	} else if sum > maxDownload {
		return errTooMuchText()
	}
	return copyOut(ctx, w, r, process.Command{Sub: "diff-tree", Flags: append(flags, "-p"),
		Revs: []git.SHA{from, to}})
}

func errTooManyChanges() error {
	return tooLarge(fmt.Sprintf("the diff exceeded the maximum number of files (%d)", maxChanged))
}

func errTooMuchText() error {
	return tooLarge(fmt.Sprintf("the diff exceeded the maximum size of the files that it compares (%d MiB)",
		maxDownload>>20))
}

// tooLarge is the 406 for changes that are too large to render as text, as at GitHub.
func tooLarge(why string) error {
	return &errs.Error{Kind: errs.NotAcceptable, Message: "Sorry, " + why + ".",
		Fields: []errs.Field{{Resource: "Diff", Field: "diff", Code: errs.TooBig, Message: why}}}
}

// WritePatches writes the commits that to has and none of not has, as `git
// format-patch` does: the oldest first, without merges; of any size, as Write.
func WritePatches(ctx context.Context, w io.Writer, r *git.Repository, to git.SHA, not ...git.SHA) error {
	c := process.Command{Sub: "format-patch", Flags: []string{"--stdout", "--no-ext-diff", "--no-color"},
		Revs: []git.SHA{to}, Not: not}
	if len(not) == 0 {
		c.Flags = append(c.Flags, "--root")
	}
	if err := checkPatches(ctx, r, to, not); err != nil {
		return err
	}
	return copyOut(ctx, w, r, c)
}

// maxPatches is the number of commits that can be rendered as patches.
const maxPatches = 1000

// checkPatches checks that git can compare each of the commits with its parent.
func checkPatches(ctx context.Context, r *git.Repository, to git.SHA, not []git.SHA) error {
	list, err := r.NewCommits(ctx, []git.SHA{to}, not, maxPatches+1)
	if err != nil {
		return err
	}
	if len(list) > maxPatches {
		return tooLarge(fmt.Sprintf("the patches exceeded the maximum number of commits (%d)", maxPatches))
	}
	sum := int64(0)
	return r.EachCommits(ctx, list, func(part []*git.Commit) error {
		for _, c := range part {
			from := git.EmptyTree
			switch len(c.Parents) {
			case 0:
			case 1:
				from = c.Parents[0]
			default:
				continue // format-patch leaves merges out
			}
			if known, err := compareTrees(ctx, r, from, c.Tree); err != nil {
				return err
			} else if !known.whole {
				return errTooManyChanges()
			} else if more, err := known.size(ctx, r); err != nil {
				return err
			} else if sum += more; sum > maxDownload {
				return errTooMuchText()
			}
		}
		return nil
	})
}

func copyOut(ctx context.Context, w io.Writer, r *git.Repository, c process.Command) error {
	return r.Stream(ctx, c, func(in *bufio.Reader) error {
		_, err := in.WriteTo(w)
		return err
	})
}

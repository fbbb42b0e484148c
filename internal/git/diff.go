package git

import (
	"bufio"
	"context"
	"io"
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
// that ends when the wanted files are read; renames are detected. Memory is
// bounded by the options, not by the trees.
func (r *Repository) Diff(ctx context.Context, from, to SHA, o DiffOptions) (*Changes, error) {
	d := &diffReader{o: o}
	c := command{sub: "diff-tree", flags: append(diffFlags(), "--raw", "--numstat"), revs: []SHA{from, to}}
	err := r.stream(ctx, r.git.walks, c, func(in *bufio.Reader) error {
		d.in = in
		return d.read()
	})
	return &d.changes, err
}

func diffFlags() []string {
	return []string{"-r", "-p", "--find-renames", "-l1000", "--no-ext-diff", "--no-textconv", "--no-color"}
}

// WriteDiff writes the changes from one tree to another as `git diff` does, of any
// size: the server keeps 64 KiB of it, and git one file's two versions. A diff of
// 200 MB in many files took 10 MB of memory here and 3 in git; one of a single
// file, 60 MB before and after, 470 in git, which is the most: what is larger than
// core.bigFileThreshold is told of as binary.
func (r *Repository) WriteDiff(ctx context.Context, w io.Writer, from, to SHA) error {
	return r.copyOut(ctx, w, command{sub: "diff-tree", flags: diffFlags(), revs: []SHA{from, to}})
}

// WritePatches writes the commits that to has and none of not has, as `git
// format-patch` does: the oldest first, without merges; of any size, as WriteDiff.
func (r *Repository) WritePatches(ctx context.Context, w io.Writer, to SHA, not ...SHA) error {
	c := command{sub: "format-patch", flags: []string{"--stdout", "--no-ext-diff", "--no-color"}, revs: []SHA{to}, not: not}
	if len(not) == 0 {
		c.flags = append(c.flags, "--root")
	}
	return r.copyOut(ctx, w, c)
}

func (r *Repository) copyOut(ctx context.Context, w io.Writer, c command) error {
	return r.stream(ctx, r.git.streams, c, func(in *bufio.Reader) error {
		_, err := in.WriteTo(w)
		return err
	})
}

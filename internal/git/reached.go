package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/process"
)

// EachReached calls fn for each object that from reaches, from itself included, and
// not does not reach, until fn returns ErrStop. Missing objects are left out.
//
// The objects that it leaves out are sure, those that it gives are not: a tree or blob
// may also be in old commits of not, whose trees are not read. One process, bounded by
// Options.ReadTimeout: Unavailable past that.
func (r *Repository) EachReached(ctx context.Context, from, not []SHA, fn func(ID) error) error {
	return r.eachReached(ctx, from, not, process.Task{Limit: r.git.options.ReadTimeout}, fn)
}

// EachNew is EachReached for work in the background, which may take as long as a transfer.
func (r *Repository) EachNew(ctx context.Context, from, not []SHA, fn func(ID) error) error {
	return r.eachReached(ctx, from, not, process.Task{Limit: r.git.options.TransferTimeout, Nice: true}, fn)
}

// eachReached is EachReached as a task with its limits.
func (r *Repository) eachReached(ctx context.Context, from, not []SHA, t process.Task, fn func(ID) error) error {
	if len(from) == 0 || !r.Exists() {
		return nil
	}
	in, err := revisionList(from, not)
	if err != nil {
		return err
	}
	t.Command = process.Command{Sub: "rev-list", Flags: []string{"--ignore-missing", "--stdin", "--objects",
		"--no-object-names", "--in-commit-order", "--missing=allow-any"}}
	t.Dir, t.Stdin = r.dir, in
	return r.eachID(ctx, r.walkCage(), t, fn)
}

// ReachedCommits returns those of the commits that are in the histories of the tips. All
// commits must be here. It reads as little of the histories as it can, so it may miss a
// commit that is dated after its children: the commits that it gives are sure, those
// that it leaves out are not.
func (r *Repository) ReachedCommits(ctx context.Context, tips, commits []SHA) (map[SHA]bool, error) {
	reached := make(map[SHA]bool, len(commits))
	for _, sha := range commits {
		reached[sha] = true
	}
	in, err := revisionList(commits, tips)
	if err != nil || len(commits) == 0 || !r.Exists() {
		return reached, err
	}
	c := process.Command{Sub: "rev-list", Flags: []string{"--ignore-missing", "--stdin"}}
	walk := process.Task{Command: c, Dir: r.dir, Limit: r.git.options.ReadTimeout, Stdin: in}
	err = r.eachID(ctx, r.walkCage(), walk, func(id ID) error {
		delete(reached, SHA(hex.EncodeToString(id[:])))
		if len(reached) == 0 {
			return ErrStop
		}
		return nil
	})
	return reached, err
}

// revisionList is the standard input of a rev-list that walks from some objects, but not
// into what others reach.
func revisionList(from, not []SHA) (*bytes.Buffer, error) {
	in := &bytes.Buffer{}
	in.Grow(42 * (len(from) + len(not)))
	for i, list := range [...][]SHA{from, not} {
		for _, sha := range list {
			if err := sha.Check(); err != nil {
				return nil, err
			}
			if i == 1 {
				in.WriteByte('^')
			}
			in.WriteString(string(sha))
			in.WriteByte('\n')
		}
	}
	return in, nil
}

// eachID runs a task that prints a name in each line.
func (r *Repository) eachID(
	ctx context.Context, in process.Cage, t process.Task, fn func(ID) error,
) error {
	p, out, err := r.git.read(ctx, in, t)
	if err != nil {
		return err
	}
	if err := readIDs(bufio.NewReaderSize(out, 128<<10), fn); err != nil {
		p.Stop()
		switch {
		case errors.Is(err, ErrStop):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return err
	}
	return p.Wait()
}

func readIDs(in *bufio.Reader, fn func(ID) error) error {
	var id ID
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil || len(line) != 41 {
			return fmt.Errorf("git rev-list: unexpected output %q: %w", errs.Clip(string(line)), err)
		}
		if _, err := hex.Decode(id[:], line[:40]); err != nil {
			return fmt.Errorf("git rev-list: unexpected output %q: %w", errs.Clip(string(line)), err)
		}
		if err := fn(id); err != nil {
			return err
		}
	}
}

// maxCandidates is how many commits of one abbreviation are looked at.
const maxCandidates = 10_000

// FindCommits finds all commits whose SHAs begin with the digits, in any order.
// NotFound when prefix is not a valid abbreviation, see IsPrefix.
func (r *Repository) FindCommits(ctx context.Context, prefix string) ([]SHA, error) {
	if !IsPrefix(prefix) || !r.Exists() {
		return nil, catfile.Missing(prefix)
	}
	var shas []SHA
	c := process.Command{Sub: "rev-parse", Flags: []string{"--disambiguate=" + strings.ToLower(prefix)}}
	err := r.eachID(ctx, r.walkCage(), process.Task{Command: c, Dir: r.dir, Limit: r.git.options.ReadTimeout},
		func(id ID) error {
			if shas = append(shas, SHA(hex.EncodeToString(id[:]))); len(shas) > maxCandidates {
				return errs.Newf(errs.Invalid, "%s is ambiguous: several objects begin with it", prefix)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	objects, err := r.Known(ctx, shas)
	commits := shas[:0]
	for _, o := range objects {
		if o.Type == TypeCommit {
			commits = append(commits, o.SHA)
		}
	}
	return commits, err
}

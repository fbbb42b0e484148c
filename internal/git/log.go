package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// LogOptions say which commits [Repository.Log] gives.
type LogOptions struct {
	From  []SHA  // commits whose histories are walked
	Not   []SHA  // whose histories are left out
	Path  string // only commits that change it, as `git log -- PATH`; literal; "" is all
	Since int64  // only committed at or after, Unix seconds; 0 is all
	Until int64  // only committed at or before, Unix seconds; 0 is all

	// Only commits with one of these e-mail addresses, compared in full and
	// without regard to case; empty: all. See CheckEmail.
	Author    []string
	Committer []string

	Skip    int  // commits left out at the start
	Max     int  // commits given
	Count   int  // commits counted besides those given and skipped; 0 counts none
	Reverse bool // the oldest first, parents before children
}

// Log walks a history with one git process and gives the SHAs of a page of it,
// the newest first, and how many commits were seen in all. more reports that
// the walk ended at the bound of Skip+Max+Count commits, so total is a lower
// bound. The revisions are commits that exist. Error: Invalid for a path that
// CheckPath refuses or an address that no author can have.
func (r *Repository) Log(ctx context.Context, o LogOptions) (page []SHA, total int, more bool, err error) {
	c, err := o.command()
	if err != nil {
		return nil, 0, false, err
	}
	err = r.Lines(ctx, c, func(line []byte) error {
		if !object.IsSHA(line) {
			return fmt.Errorf("git rev-list: unexpected line %q", errs.Clip(string(line)))
		}
		if total == o.Skip+o.Max+o.Count {
			more = true
			return ErrStop
		}
		if total >= o.Skip && len(page) < o.Max {
			page = append(page, SHA(line))
		}
		total++
		return nil
	})
	return page, total, more, err
}

// command builds the rev-list. A bound of commits is given to git as well, so
// that it need not walk on; not with Reverse, which would cut the wrong end.
func (o LogOptions) command() (process.Command, error) {
	c := process.Command{Sub: "rev-list", Revs: o.From, Not: o.Not}
	if o.Reverse {
		c.Flags = append(c.Flags, "--topo-order", "--reverse")
	} else {
		c.Flags = append(c.Flags, "--max-count="+strconv.Itoa(o.Skip+o.Max+o.Count+1))
	}
	if o.Since != 0 {
		c.Flags = append(c.Flags, "--max-age="+strconv.FormatInt(max(o.Since, 1), 10))
	}
	if o.Until != 0 {
		c.Flags = append(c.Flags, "--min-age="+strconv.FormatInt(max(o.Until, 1), 10))
	}
	if err := addPeople(&c, "--author=", o.Author); err != nil {
		return c, err
	}
	if err := addPeople(&c, "--committer=", o.Committer); err != nil {
		return c, err
	}
	if o.Path != "" {
		if err := CheckPath(o.Path); err != nil {
			return c, err
		}
		c.Pathspec = o.Path
	}
	return c, nil
}

// addPeople adds a filter: addresses in the brackets that stand around them in a
// commit, compared as text.
func addPeople(c *process.Command, flag string, emails []string) error {
	for _, email := range emails {
		if err := CheckEmail(email); err != nil {
			return err
		}
		c.Flags = append(c.Flags, flag+"<"+email+">", "--fixed-strings", "--regexp-ignore-case",
			"--all-match")
	}
	return nil
}

// CheckEmail refuses what cannot be the address of an author, and so what git
// would take for more than text. The error is of kind Invalid.
func CheckEmail(email string) error {
	if email == "" || len(email) > 1000 || strings.ContainsAny(email, "<>\n\r\x00") {
		return errs.Newf(errs.Invalid, "%q is not an e-mail address", errs.Clip(email))
	}
	return nil
}

// CheckPath refuses what names no file of a tree: an empty or absolute path,
// empty parts, "." and "..", any ".git", a NUL, more than MaxPath bytes. The
// error is of kind Invalid.
func CheckPath(path string) error {
	if path == "" || len(path) > MaxPath || strings.IndexByte(path, 0) >= 0 {
		return errs.Newf(errs.Invalid, "%q is not a path in a tree", errs.Clip(path))
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return errs.Newf(errs.Invalid, "%q is not a path in a tree", errs.Clip(path))
		}
	}
	return nil
}

// literalPaths disables pathspec magic.
const literalPaths = "GIT_LITERAL_PATHSPECS=1"

// Stream runs a command that only reads and hands its output to fn while it runs.
// ErrStop of fn ends the process and is not an error. Errors: NotFound when the repository
// has no folder yet, Unavailable when git takes too long, Invalid when it needs more
// memory than its cage has.
func (r *Repository) Stream(ctx context.Context, c process.Command, fn func(*bufio.Reader) error) error {
	if !r.Exists() {
		return catfile.Missing("HEAD")
	}
	limit := walkReads * r.git.options.ReadTimeout
	return r.git.streamTask(ctx, r.cageOf(c.Sub), process.Task{Command: c, Dir: r.dir, Limit: limit,
		Env: []string{literalPaths}}, fn)
}

// streamTask is Stream for any task.
func (g *Git) streamTask(
	ctx context.Context, in process.Cage, t process.Task, fn func(*bufio.Reader) error,
) error {
	p, out, err := g.read(ctx, in, t)
	if err != nil {
		return err
	}
	if err := fn(bufio.NewReaderSize(out, 64<<10)); err != nil {
		grown := p.Stop()
		switch {
		case errors.Is(err, ErrStop):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case grown != nil:
			return grown
		}
		return err
	}
	return p.Wait()
}

// Lines runs a command and calls fn for each line of its output, which must be
// short.
func (r *Repository) Lines(ctx context.Context, c process.Command, fn func(line []byte) error) error {
	return r.Stream(ctx, c, func(in *bufio.Reader) error {
		for {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return nil
			}
			if err != nil {
				return fmt.Errorf("git %s: %w", c.Sub, err)
			}
			if err := fn(line[:len(line)-1]); err != nil {
				return err
			}
		}
	})
}

// MergeBase finds the best common ancestor of two commits, the one that git
// takes when there are several. NotFound when the histories have none. It starts
// no process if they diverged recently.
func (r *Repository) MergeBase(ctx context.Context, a, b SHA) (SHA, error) {
	if err := errors.Join(a.Check(), b.Check()); err != nil {
		return "", err
	}
	none := errs.Newf(errs.NotFound, "No common ancestor between %s and %s.", a, b)
	base, known, err := r.soleMergeBase(ctx, a, b)
	switch {
	case err != nil || known && base != "":
		return base, err
	case known:
		return "", none
	}
	err = r.Lines(ctx, process.Command{Sub: "merge-base", Revs: []SHA{a, b}}, func(line []byte) (err error) {
		base, err = ParseSHA(string(line))
		return err
	})
	if process.ExitCode(err) == 1 || err == nil && base == "" {
		return "", none
	}
	return base, err
}

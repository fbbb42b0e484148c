package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"arbor/internal/git"
	"arbor/internal/git/process"
)

// Change is a commit of a history, as statistics count it.
type Change struct {
	Email          string    // of the author; empty if it is longer than maxAuthor
	At             time.Time // when it was written, in the author's time zone; zero if it is not a time
	Added, Deleted int64     // lines
}

// Changes calls see with the commits of a history that are not merges, newest first, at most most of them. With
// lines it counts lines, for which git compares the trees of each commit. One git process walks the history.
func Changes(
	ctx context.Context, r *git.Repository, tip git.SHA, most int, lines bool, see func(Change),
) error {
	c := process.Command{Sub: "log", Revs: []git.SHA{tip}, Flags: []string{"--format=>%aI %ae", "--no-merges",
		"--max-count=" + strconv.Itoa(most), "--no-color"}}
	if lines {
		c.Flags = append(c.Flags, "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
	}
	return r.Stream(ctx, c, func(in *bufio.Reader) error { return readChanges(in, see) })
}

// readChanges reads a line for each commit, which begins with ">", and the lines of its files below it: two
// numbers, or dashes of a binary file, and the path, all divided by tabs. The end of long lines is skipped.
func readChanges(in *bufio.Reader, see func(Change)) error {
	var c Change
	begun := false
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull) || len(line) > maxAuthor
		line = bytes.TrimSuffix(line, []byte("\n"))
		if head, is := bytes.CutPrefix(line, []byte(">")); is {
			if begun {
				see(c)
			}
			c, begun = readChange(head, long), true
		} else if added, rest, ok := bytes.Cut(line, []byte("\t")); ok {
			deleted, _, _ := bytes.Cut(rest, []byte("\t"))
			c.Added += count(added)
			c.Deleted += count(deleted)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			if begun {
				see(c)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readChange reads the time and the address of an author.
func readChange(line []byte, long bool) (c Change) {
	at, email, _ := bytes.Cut(line, []byte(" "))
	c.At, _ = time.Parse(time.RFC3339, string(at))
	if !long {
		c.Email = string(bytes.ToValidUTF8(email, []byte("\ufffd")))
	}
	return c
}

// count returns the number of lines, or 0 for what is not a number.
func count(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

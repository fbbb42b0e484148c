package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/git/process"
)

// LastCommit is the beginning of what a commit says, for a list of files.
type LastCommit struct {
	SHA     git.SHA
	When    time.Time // committed
	Author  string    // the name
	Subject string    // the message's first line, at most maxToken bytes
}

// LastCommits are the commits that changed the entries of a directory last.
type LastCommits struct {
	Latest  LastCommit            // changed the directory or file itself; no SHA: it was not found in time
	Entries map[string]LastCommit // by name
	Whole   bool                  // each of the names was found, or is in no commit
}

// LastChanges walks the history of a commit with one git process, until it has found the commit that last
// changed each of the names in a directory ("" is the root), or the time is over: then the outcome is a part.
// Without names the path may be a file's. Merges count where they alone changed nothing that their parents
// had not. Errors: those of Stream and CheckPath.
func LastChanges(
	ctx context.Context, r *git.Repository, commit git.SHA, dir string, names []string, limit time.Duration,
) (*LastCommits, error) {
	c := process.Command{Sub: "log", Revs: []git.SHA{commit},
		Flags: []string{"--format=%x00%H%x00%ct%x00%an%x00%s", "-z",
			"--name-only", "--no-renames", "--no-color"}}
	if dir != "" {
		if err := git.CheckPath(dir); err != nil {
			return nil, err
		}
		c.Pathspec = dir
		dir += "/"
	}
	l := &lastReader{dir: dir, wanted: make(map[string]bool, len(names)),
		found: &LastCommits{Entries: make(map[string]LastCommit, len(names))}}
	for _, name := range names {
		l.wanted[name] = true
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := r.Stream(timed, c, l.read)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		return l.found, nil
	}
	l.found.Whole = true
	return l.found, err
}

// lastReader reads the output of the log: commits, each an empty token, four fields and the paths that it
// changed, all ended by NUL. No path is empty.
type lastReader struct {
	dir    string // with a slash at its end
	wanted map[string]bool
	found  *LastCommits
}

// read ends with ErrStop when all is found.
func (l *lastReader) read(in *bufio.Reader) error {
	var at LastCommit
	for {
		token, err := readToken(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token == "" {
			if at, err = readLast(in); err != nil {
				return err
			}
			if l.found.Latest.SHA == "" {
				l.found.Latest = at
			}
			if len(l.wanted) == 0 {
				return git.ErrStop
			}
			continue
		}
		name, inside := strings.CutPrefix(strings.TrimPrefix(token, "\n"), l.dir)
		name, _, _ = strings.Cut(name, "/")
		if inside && l.wanted[name] {
			delete(l.wanted, name)
			l.found.Entries[name] = at
			if len(l.wanted) == 0 {
				return git.ErrStop
			}
		}
	}
}

func readLast(in *bufio.Reader) (c LastCommit, err error) {
	var fields [4]string
	for n := range fields {
		if fields[n], err = readToken(in); err != nil {
			return c, fmt.Errorf("git log: %w", err)
		}
	}
	seconds, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return c, fmt.Errorf("git log: %w", err)
	}
	c.SHA, err = git.ParseSHA(fields[0])
	c.When, c.Author, c.Subject = time.Unix(seconds, 0).UTC(), fields[2], fields[3]
	return c, err
}

// maxToken bounds what is kept of one field or path, in bytes.
const maxToken = git.MaxPath

// readToken reads up to a NUL. Of what is longer than maxToken the beginning is given.
func readToken(in *bufio.Reader) (string, error) {
	var b []byte
	for {
		part, err := in.ReadSlice(0)
		b = append(b, part[:min(len(part), maxToken+1-len(b))]...)
		switch {
		case err == nil:
			return strings.ToValidUTF8(strings.TrimSuffix(string(b), "\x00"), "\ufffd"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return "", err
		}
	}
}

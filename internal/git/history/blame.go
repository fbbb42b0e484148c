package history

import (
	"bufio"
	"bytes"
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

// BlameHunk is a run of lines of a file that one commit wrote.
type BlameHunk struct {
	Commit *BlameCommit
	Start  int // number of the first line in the file, from 1
	Lines  []string
}

// BlameCommit is the beginning of what a commit of a blame says.
type BlameCommit struct {
	SHA           git.SHA
	Author, Email string // of Author: name and address
	When          time.Time
	Summary       string  // the message's first line, at most maxToken bytes
	Path          string  // of the file in this commit
	Before        git.SHA // the parent that has the file, too; empty: the commit made it
	BeforePath    string  // the file's path there
}

// Blame says which commit wrote each line of a file, as `git blame` does. The file's text is part of the
// outcome, so the caller bounds its size before. Lines that are no UTF-8 are mended. Errors: those of Stream
// and CheckPath.
func Blame(
	ctx context.Context, r *git.Repository, commit git.SHA, path string,
) (hunks []BlameHunk, err error) {
	if err := git.CheckPath(path); err != nil {
		return nil, err
	}
	c := process.Command{Sub: "blame", Flags: []string{"--porcelain", "--root", "--encoding=UTF-8"},
		Revs: []git.SHA{commit}, Pathspec: path}
	err = r.Stream(ctx, c, func(in *bufio.Reader) error {
		hunks, err = readBlame(in)
		return err
	})
	return hunks, err
}

// readBlame reads groups of lines. Each line has a head "SHA old new [count]", what is new of its commit, and
// its text behind a tab.
func readBlame(in *bufio.Reader) (hunks []BlameHunk, err error) {
	commits := map[git.SHA]*BlameCommit{}
	var at *BlameCommit
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return hunks, nil
		}
		if err != nil {
			return nil, err
		}
		if text, ok := bytes.CutPrefix(line, []byte("\t")); ok {
			if len(hunks) == 0 {
				return nil, fmt.Errorf("git blame: a line without a commit")
			}
			last := &hunks[len(hunks)-1]
			last.Lines = append(last.Lines, strings.ToValidUTF8(string(text), "\ufffd"))
			continue
		}
		if sha, start, grouped, ok := readBlameHead(line); ok {
			if commits[sha] == nil {
				commits[sha] = &BlameCommit{SHA: sha}
			}
			if at = commits[sha]; grouped {
				hunks = append(hunks, BlameHunk{Commit: at, Start: start})
			}
			continue
		}
		if at != nil {
			at.note(string(line))
		}
	}
}

func readBlameHead(line []byte) (sha git.SHA, start int, grouped, ok bool) {
	fields := strings.Fields(string(line[:min(len(line), 100)]))
	if len(fields) < 3 || len(fields) > 4 {
		return "", 0, false, false
	}
	sha, err := git.ParseSHA(fields[0])
	if err != nil {
		return "", 0, false, false
	}
	start, err = strconv.Atoi(fields[2])
	return sha, start, len(fields) == 4, err == nil
}

// note takes a line of what a commit says.
func (c *BlameCommit) note(line string) {
	key, value, _ := strings.Cut(strings.ToValidUTF8(line, "\ufffd"), " ")
	switch key {
	case "author":
		c.Author = value
	case "author-mail":
		c.Email = strings.Trim(value, "<>")
	case "author-time":
		seconds, _ := strconv.ParseInt(value, 10, 64)
		c.When = time.Unix(seconds, 0).UTC()
	case "summary":
		c.Summary = value[:min(len(value), maxToken)]
	case "filename":
		c.Path = unquoted(value)
	case "previous":
		sha, path, _ := strings.Cut(value, " ")
		if before, err := git.ParseSHA(sha); err == nil {
			c.Before, c.BeforePath = before, unquoted(path)
		}
	}
}

// unquoted is a path as blame prints it: in C's quotes where it has special characters. One that Go cannot
// read stays.
func unquoted(path string) string {
	if strings.HasPrefix(path, `"`) {
		if plain, err := strconv.Unquote(path); err == nil {
			return strings.ToValidUTF8(plain, "\ufffd")
		}
	}
	return path
}

// readLine reads a line of any length without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

package catfile

import (
	"errors"
	"fmt"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// commitsAtOnce is how many commits are asked for before answers are read. Their
// requests fit a pipe, so that neither side waits for the other for ever.
const commitsAtOnce = 64

// ErrPart is the error of Commits with a limit that was reached.
var ErrPart = errors.New("git: as many commits as are read at one time")

// Commits reads commits in the order of shas, in a few exchanges. With a limit, which is
// not 0, it reads as many as have so many bytes together, at least one, and gives them
// with ErrPart where more follow.
func (c *Process) Commits(shas []object.SHA, limit int) ([]*object.Commit, error) {
	room, left := len(shas), (*int)(nil)
	if limit != 0 {
		room, left = min(room, commitsAtOnce), &limit
	}
	list := make([]*object.Commit, 0, room)
	for len(shas) > 0 {
		ask := shas[:min(len(shas), commitsAtOnce)]
		shas = shas[len(ask):]
		var err error
		if list, err = c.commits(list, ask, left); err != nil {
			return list, err
		}
	}
	return list, nil
}

// commits asks for some commits at once and appends them. If left is not nil, it stops
// when so many bytes are read. Any error in between leaves answers unread.
func (c *Process) commits(list []*object.Commit, shas []object.SHA, left *int) ([]*object.Commit, error) {
	request := make([]byte, 0, len(shas)*50+6)
	for _, sha := range shas {
		request = append(append(append(request, "contents "...), sha...), '\n')
	}
	if _, err := c.in.Write(append(request, "flush\n"...)); err != nil {
		return nil, DirtyError{c.broken(err)}
	}
	for _, sha := range shas {
		info, err := c.header()
		if errs.Is(err, errs.NotFound) {
			return nil, SpentError{err}
		}
		if err != nil {
			return nil, DirtyError{err}
		}
		if info.Type != object.TypeCommit {
			return nil, SpentError{errs.Newf(errs.Invalid, "%s is a %s, not a commit", sha, info.Type)}
		}
		if info.Size > object.MaxCommitBytes {
			return nil, SpentError{errs.Newf(errs.TooLarge, "commit %s is too large", sha)}
		}
		if left != nil {
			if int(info.Size) > *left && len(list) > 0 {
				return list, SpentError{ErrPart}
			}
			*left -= int(info.Size)
		}
		contents := make([]byte, info.Size+1)
		if _, err := io.ReadFull(c.out, contents); err != nil {
			return nil, DirtyError{c.broken(err)}
		}
		commit, err := object.ParseCommit(contents[:info.Size])
		if err != nil {
			return nil, SpentError{fmt.Errorf("git: commit %s: %w", sha, err)}
		}
		commit.SHA = sha
		list = append(list, commit)
	}
	return list, nil
}

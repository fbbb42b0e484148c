package review

import (
	"context"
	"maps"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/issue"
	"arbor/internal/pull"
)

// maxFollowed is the number of comparisons that one request makes to find the current positions of
// comments. Positions are stored, so a new head costs a pull request two comparisons, or more if comments
// were made on several heads since the last request. If the limit is reached, the remaining comments have
// no position in this response.
const maxFollowed = 20

// follow updates the positions of comments whose pull request has a new head. Positions depend only on
// commits, so they are computed when a request needs them, like missing test merges (decision 36).
func (s *Service) follow(ctx context.Context, list []*Comment) error {
	stale := map[issue.ID][]*Comment{}
	for _, c := range list {
		if !c.Outdated() && c.Current != c.HeadSHA {
			stale[c.IssueID] = append(stale[c.IssueID], c)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	var moved []*Comment
	left := maxFollowed
	for _, id := range slices.Sorted(maps.Keys(stale)) {
		done, err := s.followPull(ctx, stale[id], &left)
		if err != nil {
			return err
		}
		moved = append(moved, done...)
	}
	for _, c := range list {
		if !c.Outdated() && c.Current != c.HeadSHA {
			c.Now = spot{}
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return storeSpots(tx, moved) })
}

// followPull updates the positions of comments of one pull request until left is used up, and returns the
// updated ones.
func (s *Service) followPull(ctx context.Context, list []*Comment, left *int) (done []*Comment, err error) {
	if *left < 2 {
		return nil, nil
	}
	objects, release, err := s.repos.GitOf(ctx, list[0].RepoID)
	if err != nil {
		return nil, err
	}
	defer release()
	head := list[0].HeadSHA
	current, err := s.changes(ctx, &pull.Pull{RepoID: list[0].RepoID, BaseSHA: list[0].BaseSHA},
		head, paths(list))
	if err != nil {
		return nil, err
	}
	*left--
	since := map[git.SHA][]*Comment{}
	for _, c := range list {
		since[c.Current] = append(since[c.Current], c)
	}
	for _, from := range slices.Sorted(maps.Keys(since)) {
		if *left == 0 {
			break
		}
		*left--
		between, err := diff.FilesNamed(ctx, objects, from, head, paths(since[from]))
		if err != nil {
			return nil, err
		}
		for _, c := range since[from] {
			if c.Now = c.moved(between, current); !c.Outdated() {
				c.Current = head
			}
			done = append(done, c)
		}
	}
	return done, nil
}

func paths(list []*Comment) []string {
	names := make([]string, len(list))
	for n, c := range list {
		names[n] = c.Path
	}
	return names
}

// moved returns the position of the comment in the current changes of its pull request. between are the
// changes from Current to the head.
func (c *Comment) moved(between, current *diff.Changes) spot {
	f := byPath(current, c.Path)
	if f == nil {
		return spot{}
	}
	if c.Whole {
		return c.Now
	}
	lines := parsePatch(f.Patch)
	if c.Side == Left {
		at := find(lines, Left, c.Now.Line)
		if at < 0 || storable(lines[at].text)[1:] != lastLine(c.Hunk) {
			return spot{}
		}
		now := spot{Position: lines[at].position, Line: c.Now.Line}
		if c.Now.Start != 0 && c.StartSide == Left && find(lines, Left, c.Now.Start) >= 0 {
			now.Start = c.Now.Start
		}
		return now
	}
	line, ok := c.carry(between, c.Now.Line)
	if !ok {
		return spot{}
	}
	at := find(lines, Right, line)
	if at < 0 {
		return spot{}
	}
	now := spot{Position: lines[at].position, Line: line}
	if c.Now.Start != 0 && c.StartSide == Right {
		if start, ok := c.carry(between, c.Now.Start); ok && find(lines, Right, start) >= 0 {
			now.Start = start
		}
	}
	return now
}

// carry maps a line of the comment's file through changes. It reports false if the file was deleted,
// renamed or has a diff too large for a patch.
func (c *Comment) carry(between *diff.Changes, line int64) (int64, bool) {
	for n := range between.Files {
		if f := &between.Files[n]; f.OldPath == c.Path && f.Status == 'R' {
			return 0, false
		}
	}
	f := byPath(between, c.Path)
	switch {
	case f == nil || f.OldSHA == f.SHA && f.Status == 'M':
		return line, true
	case f.Status != 'M' || !f.HasPatch:
		return 0, false
	}
	return after(parsePatch(f.Patch), line)
}

// lastLine returns the last line of a hunk, without its sign.
func lastLine(hunk string) string {
	if line := hunk[strings.LastIndexByte(hunk, '\n')+1:]; line != "" {
		return line[1:]
	}
	return ""
}

package git

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"math"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// maxWalkTips is the number of histories that are walked without a process.
const maxWalkTips = 20

// NewCommits lists the commits that the histories of from have and those of not
// lack, the newest first, at most most of them. It starts no process if the
// histories diverged recently; then it may include commits that both histories
// have, if some are dated before their parents. NotFound when a commit is missing.
func (r *Repository) NewCommits(ctx context.Context, from, not []SHA, most int) ([]SHA, error) {
	for _, sha := range append(from[:len(from):len(from)], not...) {
		if err := sha.Check(); err != nil {
			return nil, err
		}
	}
	if len(from)+len(not) <= maxWalkTips {
		list, known, err := r.walkNew(ctx, from, not)
		if err != nil || known {
			return list[:min(len(list), most)], err
		}
	}
	return r.listNew(ctx, from, not, most)
}

// walkNew stops, with known false, if the walk is long.
func (r *Repository) walkNew(ctx context.Context, from, not []SHA) (list []SHA, known bool, err error) {
	w := &baseWalk{ctx: ctx, repository: r, seen: map[SHA]*walked{}}
	met, known, err := w.part(from, not, ofFirst)
	for _, c := range met {
		if c.marks == ofFirst {
			list = append(list, c.sha)
		}
	}
	return list, known, err
}

// part walks the histories of from and not until it has met all commits that one of them has and the other
// lacks: those of the histories in want. Of the commits met, those count whose marks are still those of one
// history. It gives up, with known false, where the walk is long.
func (w *baseWalk) part(from, not []SHA, want uint8) (met []*walked, known bool, err error) {
	if err := w.mark(ofFirst, from...); err != nil {
		return nil, false, err
	}
	if err := w.mark(ofSecond, not...); err != nil {
		return nil, false, err
	}
	oldest := int64(math.MaxInt64)
	// What both have is walked on until it is older than all that is met, which
	// may be part of it.
	for w.open > 0 || len(w.queue) > 0 && w.queue[0].when >= oldest {
		if w.reads > maxWalkReads || len(w.seen) > maxWalkCommits {
			return nil, false, nil
		}
		c := heap.Pop(&w.queue).(*walked)
		c.queued = false
		marks := c.marks
		if marks&stale == 0 {
			w.open--
		}
		switch {
		case marks == common:
			marks |= stale
		case marks&stale == 0 && marks&want != 0:
			met = append(met, c)
			oldest = min(oldest, c.when)
		}
		if err := w.mark(marks, c.parents...); err != nil {
			return nil, false, err
		}
	}
	return met, true, nil
}

// listNew lists the commits with git.
func (r *Repository) listNew(ctx context.Context, from, not []SHA, most int) ([]SHA, error) {
	if !r.Exists() {
		return nil, catfile.Missing("HEAD")
	}
	var in bytes.Buffer
	for _, sha := range from {
		in.WriteString(string(sha) + "\n")
	}
	for _, sha := range not {
		in.WriteString("^" + string(sha) + "\n")
	}
	c := process.Command{Sub: "rev-list", Flags: []string{"--stdin", "--max-count=" + strconv.Itoa(most)}}
	t := process.Task{Command: c,
		Dir: r.dir, Limit: walkReads * r.git.options.ReadTimeout, Stdin: &in}
	var list []SHA
	err := r.git.streamTask(ctx, r.walkCage(), t, func(out *bufio.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if !object.IsSHA(lines.Bytes()) {
				return fmt.Errorf("git rev-list: unexpected line %q", errs.Clip(lines.Text()))
			}
			list = append(list, SHA(lines.Text()))
		}
		return lines.Err()
	})
	return list, err
}

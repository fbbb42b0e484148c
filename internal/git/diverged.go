package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// Diverged counts the commits that only the one and only the other of two
// histories has, and returns a page of those that only b has, the oldest first. It
// starts no process if the histories diverged recently.
func (r *Repository) Diverged(
	ctx context.Context, a, b SHA, skip, most int,
) (onlyA, onlyB int, page []SHA, err error) {
	if err := errors.Join(a.Check(), b.Check()); err != nil {
		return 0, 0, nil, err
	}
	onlyA, list, known, err := r.walkDiverged(ctx, a, b)
	if err != nil {
		return 0, 0, nil, err
	}
	if known {
		skip = min(skip, len(list))
		return onlyA, len(list), list[skip:min(len(list), skip+most)], nil
	}
	c := process.Command{Sub: "rev-list", Flags: []string{"--left-right", "--topo-order", "--reverse"},
		Revs: []SHA{a, b}, Symmetric: true}
	onlyA = 0
	err = r.Lines(ctx, c, func(line []byte) error {
		if len(line) != 41 || !object.IsSHA(line[1:]) {
			return fmt.Errorf("git rev-list: unexpected line %q", errs.Clip(string(line)))
		}
		if line[0] == '<' {
			onlyA++
			return nil
		}
		if onlyB >= skip && len(page) < most {
			page = append(page, SHA(line[1:]))
		}
		onlyB++
		return nil
	})
	return onlyA, onlyB, page, err
}

// walkDiverged is Diverged without a process. It gives up, with known false,
// where the walk is long, or a commit is dated before its parent: dates tell
// where the walk may end.
func (r *Repository) walkDiverged(
	ctx context.Context, a, b SHA,
) (onlyA int, onlyB []SHA, known bool, err error) {
	w := &baseWalk{ctx: ctx, repository: r, seen: map[SHA]*walked{}}
	met, known, err := w.part([]SHA{a}, []SHA{b}, ofFirst|ofSecond)
	if err != nil || !known || w.skewed() {
		return 0, nil, false, err
	}
	for _, c := range met {
		if c.marks == ofFirst {
			onlyA++
		}
	}
	onlyB = w.linesOf(b)
	slices.Reverse(onlyB)
	return onlyA, onlyB, true, nil
}

// skewed reports that the walk has met a commit that is dated before its parent.
func (w *baseWalk) skewed() bool {
	for _, c := range w.seen {
		for _, sha := range c.parents {
			if p := w.seen[sha]; p != nil && p.when > c.when {
				return true
			}
		}
	}
	return false
}

// linesOf lists the commits that the second history alone has, whose tip is
// given, as git does with --topo-order: no parent before all of its children, and
// one line of history after the other.
func (w *baseWalk) linesOf(tip SHA) (list []SHA) {
	if w.seen[tip].marks != ofSecond {
		return nil
	}
	children := map[SHA]int{}
	for _, c := range w.seen {
		if c.marks == ofSecond {
			for _, sha := range c.parents {
				children[sha]++
			}
		}
	}
	next := []SHA{tip}
	for len(next) > 0 {
		sha := next[len(next)-1]
		next = next[:len(next)-1]
		list = append(list, sha)
		for _, p := range w.seen[sha].parents {
			if children[p]--; children[p] == 0 && w.seen[p].marks == ofSecond {
				next = append(next, p)
			}
		}
	}
	return list
}

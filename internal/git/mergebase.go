package git

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// links are what a walk of histories needs of a commit.
type links struct {
	tree    SHA
	parents []SHA
	when    int64 // of the committer, Unix seconds
}

// maxLinks is how many commits one half of the cache of links holds: about 5 MB, where
// they have a parent or two.
const (
	maxLinks       = 16_000
	maxKeptParents = 32 // of a commit that is kept
)

func (g *Git) keepLinks(k treeKey, l links) {
	if len(l.parents) <= maxKeptParents {
		g.links.Put(k, l)
	}
}

// linksOf returns the links of some commits. It reads those that are not cached in one
// exchange; read is their number. Errors are those of Commit.
func (r *Repository) linksOf(ctx context.Context, shas []SHA) (list []links, read int, err error) {
	s := r.git.state(r.dir)
	list = make([]links, len(shas))
	var ask []SHA
	var places []int
	for i, sha := range shas {
		var ok bool
		if list[i], ok = r.git.links.Get(treeKey{s, sha}); !ok {
			ask, places = append(ask, sha), append(places, i)
		}
	}
	if len(ask) == 0 {
		return list, 0, nil
	}
	n := 0
	err = r.EachCommits(ctx, ask, func(part []*Commit) error {
		for _, c := range part {
			l := newLinks(c)
			r.git.keepLinks(treeKey{s, ask[n]}, l)
			list[places[n]] = l
			n++
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return list, len(ask), nil
}

// newLinks returns the links of a commit.
func newLinks(c *Commit) links {
	return links{tree: c.Tree, parents: slices.Clone(c.Parents), when: c.Committer.When.Unix()}
}

// Bounds of a walk for a merge base without a process: reading this many commits takes about
// as long as a process does; commits in the cache cost next to nothing.
const (
	maxWalkReads   = 100
	maxWalkCommits = 2000
)

// The marks of a commit in such a walk: whose history it is in, and that it is
// the ancestor of a common one.
const (
	ofFirst = 1 << iota
	ofSecond
	stale

	common = ofFirst | ofSecond
)

// walked is a commit that a walk has met.
type walked struct {
	links
	sha    SHA
	marks  uint8
	queued bool
}

// walkQueue holds the commits to look at, the newest first.
type walkQueue []*walked

func (q walkQueue) Len() int           { return len(q) }
func (q walkQueue) Less(i, j int) bool { return cmp.Less(q[j].when, q[i].when) }
func (q walkQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *walkQueue) Push(x any)        { *q = append(*q, x.(*walked)) }
func (q *walkQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// baseWalk looks for common ancestors of two commits.
type baseWalk struct {
	ctx        context.Context
	repository *Repository
	seen       map[SHA]*walked
	queue      walkQueue
	open       int // of the queue, commits that are not stale
	reads      int
	found      []*walked // common ancestors, later ones perhaps stale
}

// soleMergeBase finds the one best common ancestor of two commits, "" when
// their histories have none, without starting a process. It gives up, with
// known false, where there are several or the walk is long.
//
// The result is right even if dates are wrong: each best common ancestor
// is reached over commits that are not stale, and the walk ends when none
// of those is left. So the best are among the found, and a single one is certain.
func (r *Repository) soleMergeBase(ctx context.Context, a, b SHA) (base SHA, known bool, err error) {
	w := &baseWalk{ctx: ctx, repository: r, seen: map[SHA]*walked{}}
	if err := w.mark(ofFirst, a); err != nil {
		return "", false, err
	}
	if err := w.mark(ofSecond, b); err != nil {
		return "", false, err
	}
	for w.open > 0 {
		if w.reads > maxWalkReads || len(w.seen) > maxWalkCommits {
			return "", false, nil
		}
		c := heap.Pop(&w.queue).(*walked)
		c.queued = false
		marks := c.marks
		if marks&stale == 0 {
			w.open--
		}
		if marks == common {
			w.found = append(w.found, c)
			marks |= stale
		}
		if err := w.mark(marks, c.parents...); err != nil {
			return "", false, err
		}
	}
	for _, c := range w.found {
		switch {
		case c.marks&stale != 0:
		case base != "":
			return "", false, nil
		default:
			base = c.sha
		}
	}
	return base, true, nil
}

// mark adds marks to commits and queues the commits whose marks changed.
func (w *baseWalk) mark(marks uint8, shas ...SHA) error {
	var ask []SHA
	for _, sha := range shas {
		if w.seen[sha] == nil {
			ask = append(ask, sha)
		}
	}
	list, read, err := w.repository.linksOf(w.ctx, ask)
	if err != nil {
		return err
	}
	w.reads += read
	for i, sha := range ask {
		w.seen[sha] = &walked{links: list[i], sha: sha}
	}
	for _, sha := range shas {
		c := w.seen[sha]
		before := c.marks
		if c.marks |= marks; c.marks == before {
			continue
		}
		wasOpen := c.queued && before&stale == 0
		if isOpen := c.marks&stale == 0; isOpen && !wasOpen {
			w.open++
		} else if !isOpen && wasOpen {
			w.open--
		}
		if !c.queued {
			c.queued = true
			heap.Push(&w.queue, c)
		}
	}
	return nil
}

package tree

import (
	"fmt"

	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Bounds of a tree with all its sub-trees. Fifteen objects can name ten thousand
// million paths, so a walk through them would not end.
const (
	MaxPaths     = 10_000_000
	MaxLevels    = 4096 // as git's own core.maxTreeDepth
	maxEntryName = 4096 // bytes, as git's own fsck.largePathname
)

// Count is the size of a tree with its sub-trees.
type Count struct {
	paths  int
	levels int
	open   bool // a tree is missing, and may come later
}

// add counts a subtree that occurs at so many names.
func (c *Count) add(sub Count, times int) {
	c.paths += sub.paths * times
	c.levels = max(c.levels, sub.levels+1)
	c.open = c.open || sub.open
}

// Counter counts the paths of trees. It reads each tree once.
type Counter struct {
	Read  func(object.ID) ([]byte, error) // NotFound for a missing tree
	known *cache.Recent[object.ID, Count] // of all repositories: they follow from the name
	here  map[object.ID]Count
}

// NewCounter returns a counter that reads trees with read and keeps counts in known.
func NewCounter(read func(object.ID) ([]byte, error), known *cache.Recent[object.ID, Count]) *Counter {
	return &Counter{Read: read, known: known, here: map[object.ID]Count{}}
}

// NewCounts returns the cache of counts, which serves all repositories.
func NewCounts() *cache.Recent[object.ID, Count] {
	return cache.NewRecent[object.ID, Count](maxCounts, nil)
}

// frame is a tree some of whose sub-trees are not counted yet.
type frame struct {
	id    object.ID
	count Count
	names map[object.ID]int // of those sub-trees: at how many names each stands
	left  []object.ID
}

// Check counts a tree. Error: Invalid when it is over the bounds.
func (p *Counter) Check(root object.ID) error {
	if _, ok := p.lookup(root); ok {
		return nil
	}
	top, err := p.open(root)
	if err != nil {
		return err
	}
	stack := []*frame{top}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		if len(f.left) == 0 {
			if f.count.paths > MaxPaths || f.count.levels > MaxLevels {
				return errs.Newf(errs.Invalid,
					"tree %s has more than %d paths, or is more than %d levels deep",
					f.id, MaxPaths, MaxLevels)
			}
			p.here[f.id] = f.count
			if !f.count.open { // else it may grow
				p.known.Put(f.id, f.count)
			}
			stack = stack[:len(stack)-1]
			continue
		}
		id := f.left[len(f.left)-1]
		if sub, ok := p.lookup(id); ok {
			f.count.add(sub, f.names[id])
			f.left = f.left[:len(f.left)-1]
			continue
		}
		if len(stack) > MaxLevels {
			return errs.Newf(errs.Invalid, "tree %s is more than %d levels deep", root, MaxLevels)
		}
		next, err := p.open(id)
		if err != nil {
			return err
		}
		stack = append(stack, next)
	}
	return nil
}

func (p *Counter) lookup(id object.ID) (Count, bool) {
	if c, ok := p.here[id]; ok {
		return c, true
	}
	return p.known.Get(id)
}

// open reads a tree and adds up its own names and those sub-trees that are counted.
func (p *Counter) open(id object.ID) (*frame, error) {
	f := &frame{id: id}
	contents, err := p.Read(id)
	switch {
	case errs.Is(err, errs.NotFound):
		f.count.open = true
		return f, nil
	case err != nil:
		return nil, err
	}
	for len(contents) > 0 {
		var e object.Entry
		if e, contents, err = object.NextEntry(contents); err != nil {
			return nil, fmt.Errorf("git: tree %s: %w", id, err)
		}
		if len(e.Name) > maxEntryName {
			return nil, errs.Newf(errs.Invalid, "tree %s has a name of %d bytes (maximum is %d)",
				id, len(e.Name), maxEntryName)
		}
		f.count.paths++
		if e.Mode != object.ModeTree {
			continue
		}
		sub := object.ID(e.ID)
		if count, ok := p.lookup(sub); ok {
			f.count.add(count, 1)
			continue
		}
		if f.names == nil {
			f.names = map[object.ID]int{}
		}
		if f.names[sub]++; f.names[sub] == 1 {
			f.left = append(f.left, sub)
		}
	}
	return f, nil
}

// maxCounts is how many counts one half of their cache holds: about 8 MB.
const maxCounts = 100_000

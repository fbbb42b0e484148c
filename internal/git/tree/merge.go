package tree

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// ErrNeedsGit says that git has to merge: both sides changed one file, or a
// rename on one side may matter to the other.
var ErrNeedsGit = errors.New("git: not a merge of trees alone")

// Merger merges trees, three at a time, without a process.
type Merger struct {
	from    func(object.SHA) ([]byte, error) // reads trees that are written
	Made    map[object.SHA][]byte            // trees that are not written yet
	Objects []object.NewObject               // those of one merge

	done map[[3]object.ID]object.ID // what one merge merged; zero where nothing is left
	size int                        // of the trees that it made, in bytes
}

// Bounds of one merge without a process: trees merged, and bytes of new ones.
const (
	maxMergedTrees = 200_000
	maxMergedBytes = 64 << 20
)

// NewMerger returns a merger that reads trees with read.
func NewMerger(read func(object.SHA) ([]byte, error)) *Merger {
	return &Merger{from: read, Made: map[object.SHA][]byte{}, done: map[[3]object.ID]object.ID{}}
}

// Merge merges what ours and theirs made of base, all three trees. It gives
// what `git merge-tree` gives, or ErrNeedsGit.
//
// It decides where no path was changed on both sides (or a file in the same
// way). Then renames make no difference to git. The old name of a file that one
// side moved is as it was on the other side, so that there is nothing to move
// along. And what one side added is below no directory that the other side
// emptied, for that directory would have been changed on both.
//
// The same three trees are merged once, at however many paths they stand. Error:
// TooLarge where there are more than maxMergedTrees of them all the same.
func (m *Merger) Merge(base, ours, theirs object.SHA) (object.SHA, error) {
	m.Objects, m.size = nil, 0
	clear(m.done)
	if ours == theirs {
		return ours, nil
	}
	id, err := m.pick(rawTree(base), rawTree(ours), rawTree(theirs), 0)
	if err != nil {
		for _, o := range m.Objects {
			delete(m.Made, o.SHA())
		}
		return "", err
	}
	if id == nil {
		made := object.NewObject{Type: object.TypeTree}
		m.Objects = append(m.Objects, made)
		return object.EmptyTree, nil
	}
	return object.SHA(hex.EncodeToString(id)), nil
}

// rawTree is a tree as an entry has it.
func rawTree(sha object.SHA) *object.Entry {
	id, _ := hex.DecodeString(string(sha)) // it is a SHA
	return &object.Entry{Mode: object.ModeTree, ID: id}
}

// pick merges the trees of three entries, nil if there is none, and gives
// the id of the result: nil when nothing is left in it.
func (m *Merger) pick(base, ours, theirs *object.Entry, depth int) ([]byte, error) {
	switch {
	case base != nil && bytes.Equal(base.ID, ours.ID):
		return theirs.ID, nil
	case base != nil && bytes.Equal(base.ID, theirs.ID):
		return ours.ID, nil
	case depth > object.MaxTreeDepth:
		return nil, ErrNeedsGit
	}
	var key [3]object.ID
	for i, e := range [...]*object.Entry{base, ours, theirs} {
		if e != nil {
			key[i] = object.ID(e.ID)
		}
	}
	if id, ok := m.done[key]; ok {
		if id == (object.ID{}) {
			return nil, nil
		}
		return id[:], nil
	}
	if len(m.done) >= maxMergedTrees || m.size > maxMergedBytes {
		return nil, errs.New(errs.TooLarge, "too many directories differ to be merged")
	}
	id, err := m.mergeTrees(base, ours, theirs, depth)
	if err == nil {
		m.done[key] = object.ID{}
		if id != nil {
			m.done[key] = object.ID(id)
		}
	}
	return id, err
}

// mergeTrees is pick where all three differ.
func (m *Merger) mergeTrees(base, ours, theirs *object.Entry, depth int) ([]byte, error) {
	var trees [3]Cursor
	for i, e := range [...]*object.Entry{base, ours, theirs} {
		if e == nil {
			continue
		}
		contents, err := m.read(object.SHA(hex.EncodeToString(e.ID)))
		if errs.Is(err, errs.TooLarge) {
			return nil, ErrNeedsGit
		}
		if err != nil {
			return nil, err
		}
		trees[i].Rest = contents
	}
	out, err := m.join(&trees, depth)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	made := object.NewObject{Type: object.TypeTree, Data: out}
	id := made.ID()
	sha := object.SHA(hex.EncodeToString(id[:]))
	if m.Made[sha] == nil && !bytes.Equal(id[:], ours.ID) && !bytes.Equal(id[:], theirs.ID) {
		m.Objects, m.Made[sha] = append(m.Objects, made), out
		m.size += len(out)
	}
	return id[:], nil
}

func (m *Merger) read(sha object.SHA) ([]byte, error) {
	if contents, ok := m.Made[sha]; ok {
		return contents, nil
	}
	return m.from(sha)
}

// Cursor goes through a tree's entries.
type Cursor struct {
	Rest []byte // behind entry
	At   bool   // there is an entry
	object.Entry
}

// Next goes on to the next entry. Trees out of order, which only damage or an
// old tool leaves, are for git to judge.
func (c *Cursor) Next() error {
	before, had := c.Entry, c.At
	if c.At = len(c.Rest) > 0; !c.At {
		return nil
	}
	var err error
	c.Entry, c.Rest, err = object.NextEntry(c.Rest)
	if err != nil || had && object.CompareEntries(before, c.Entry) >= 0 {
		return ErrNeedsGit
	}
	return nil
}

// join goes through three trees at once and gives the merged one's contents.
// Entries are one where name and kind, directory or not, are.
func (m *Merger) join(trees *[3]Cursor, depth int) ([]byte, error) {
	out := make([]byte, 0, max(len(trees[1].Rest), len(trees[2].Rest))+64)
	for i := range trees {
		if err := trees[i].Next(); err != nil {
			return nil, err
		}
	}
	kinds := map[string]bool{} // of the changed names, whether they are directories
	for {
		side, name := together(trees)
		if name == nil {
			return out, nil
		}
		same := side[0] != nil && side[1] != nil && side[2] != nil && side[0].Is(side[1]) &&
			side[0].Is(side[2])
		kept := side[0]
		if !same {
			isTree := name.Mode == object.ModeTree
			if was, ok := kinds[string(name.Name)]; ok && was != isTree {
				return nil, ErrNeedsGit // a file where a directory is
			}
			kinds[string(name.Name)] = isTree
			var err error
			if kept, err = m.entry(side, depth); err != nil {
				return nil, err
			}
		}
		if kept != nil {
			out = append(strconv.AppendUint(out, uint64(kept.Mode), 8), ' ')
			out = append(append(append(out, kept.Name...), 0), kept.ID...)
		}
		for i := range trees {
			if side[i] != nil {
				if err := trees[i].Next(); err != nil {
					return nil, err
				}
			}
		}
	}
}

// together returns the next entry of the trees, as each of them
// has it; nil for a tree without it.
func together(trees *[3]Cursor) (side [3]*object.Entry, first *object.Entry) {
	for i := range trees {
		if !trees[i].At {
			continue
		}
		e := &trees[i].Entry
		order := -1
		if first != nil {
			order = object.CompareEntries(*e, *first)
		}
		if order < 0 {
			first, side = e, [3]*object.Entry{}
		}
		if order <= 0 {
			side[i] = e
		}
	}
	return side, first
}

// sameEntry reports whether two entries are alike. nil is an entry that is absent.
func sameEntry(a, b *object.Entry) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Is(b)
}

// entry merges one entry that is not the same everywhere: nil when it goes.
func (m *Merger) entry(side [3]*object.Entry, depth int) (*object.Entry, error) {
	base, ours, theirs := side[0], side[1], side[2]
	switch {
	case sameEntry(base, ours):
		return theirs, nil
	case sameEntry(base, theirs):
		return ours, nil
	case ours == nil || theirs == nil:
		return nil, ErrNeedsGit
	case ours.Mode == object.ModeTree:
		id, err := m.pick(base, ours, theirs, depth+1)
		if err != nil || id == nil {
			return nil, err
		}
		return &object.Entry{Mode: object.ModeTree, Name: ours.Name, ID: id}, nil
	case base != nil && ours.Is(theirs):
		return ours, nil
	}
	return nil, ErrNeedsGit
}

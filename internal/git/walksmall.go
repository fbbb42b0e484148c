package git

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"arbor/internal/git/object"
)

// Bounds of a recursive walk that starts no process. To read so many trees one after the
// other takes no longer than a process.
const (
	smallTrees = 16
	smallBytes = 32 << 10 // of all trees together
)

var errNotSmall = errors.New("git: the tree is not small")

// smallWalk is what a recursive walk of a small tree read.
type smallWalk struct {
	repository *Repository
	trees      int // below the first one
	bytes      int64
	entries    []object.Entry // their names are paths
}

// walkSmall walks a small tree and its sub-trees with the pool alone. It gives up, with done
// false and before fn is called, where they are not small or something cannot be read: what is
// wrong, ls-tree tells.
func (r *Repository) walkSmall(
	ctx context.Context, tree SHA, fn func(*WalkEntry) error,
) (done bool, err error) {
	w := &smallWalk{repository: r}
	if err := w.read(ctx, tree, nil); err != nil {
		return false, nil
	}
	sizes, err := r.sizes(ctx, w.entries)
	if err != nil {
		return false, nil
	}
	return true, eachEntry(w.entries, sizes, fn)
}

// read adds what is in a tree; the paths begin with dir. Trees count where they are named, so that a tree of
// many is given up before they are read.
func (w *smallWalk) read(ctx context.Context, tree SHA, dir []byte) error {
	contents, err := w.repository.TreeContents(ctx, tree, smallBytes-w.bytes)
	if err != nil {
		return err
	}
	w.bytes += int64(len(contents))
	var here []object.Entry
	for len(contents) > 0 {
		var e object.Entry
		if e, contents, err = object.NextEntry(contents); err != nil {
			return err
		}
		if e.Name = slices.Concat(dir, e.Name); len(e.Name) > MaxPath {
			return errLongPath()
		}
		if e.Mode.Type() == TypeTree {
			w.trees++
		}
		here = append(here, e)
	}
	if w.trees >= smallTrees {
		return errNotSmall
	}
	for _, e := range here {
		w.entries = append(w.entries, e)
		if e.Mode.Type() != TypeTree {
			continue
		}
		if err := w.read(ctx, SHA(hex.EncodeToString(e.ID)), slices.Concat(e.Name, []byte("/"))); err != nil {
			return err
		}
	}
	return nil
}

// eachEntry calls fn for entries of the given sizes.
func eachEntry(entries []object.Entry, sizes []int64, fn func(*WalkEntry) error) error {
	var id [40]byte
	for i, raw := range entries {
		hex.Encode(id[:], raw.ID)
		entry := WalkEntry{Mode: raw.Mode, Type: raw.Mode.Type(), SHA: id[:], Path: raw.Name, Size: sizes[i]}
		if err := fn(&entry); err != nil {
			return err
		}
	}
	return nil
}

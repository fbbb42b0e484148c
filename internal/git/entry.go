package git

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"arbor/internal/errs"
)

// rawEntry is an entry as it stands in a tree's bytes.
type rawEntry struct {
	mode Mode
	name []byte
	id   []byte // 20 bytes
}

// nextEntry takes one entry off a tree's bytes. It accepts what git accepts
// when it reads: zero-padded and odd modes of old histories, for instance.
func nextEntry(tree []byte) (rawEntry, []byte, error) {
	var mode Mode
	i := 0
	for ; i < len(tree) && tree[i] >= '0' && tree[i] <= '7' && i < 8; i++ {
		mode = mode<<3 | Mode(tree[i]-'0')
	}
	if i == 0 || i >= len(tree) || tree[i] != ' ' {
		return rawEntry{}, nil, fmt.Errorf("bad mode")
	}
	rest := tree[i+1:]
	end := bytes.IndexByte(rest, 0)
	if end <= 0 {
		return rawEntry{}, nil, fmt.Errorf("bad name")
	}
	if len(rest) < end+21 {
		return rawEntry{}, nil, fmt.Errorf("truncated")
	}
	return rawEntry{mode: mode.canonical(), name: rest[:end], id: rest[end+1 : end+21]}, rest[end+21:], nil
}

// parseTree cuts a tree into its entries. Error: Invalid for a damaged tree.
func parseTree(contents []byte) ([]rawEntry, error) {
	entries := make([]rawEntry, 0, bytes.Count(contents, []byte{0}))
	for len(contents) > 0 {
		e, rest, err := nextEntry(contents)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "a tree of the base is damaged", err)
		}
		entries, contents = append(entries, e), rest
	}
	return entries, nil
}

// encodeTree gives the tree's contents with its entries in git's order, which
// compares the name of a directory as if a slash ended it. Error: Invalid for
// a name that stands twice.
func encodeTree(entries []rawEntry) ([]byte, error) {
	if !slices.IsSortedFunc(entries, compareEntries) {
		slices.SortFunc(entries, compareEntries)
	}
	size := 0
	for _, e := range entries {
		size += len(e.name) + 28
	}
	b := make([]byte, 0, size)
	for i, e := range entries {
		if i > 0 && bytes.Equal(entries[i-1].name, e.name) {
			return nil, errs.Newf(errs.Invalid, "a tree of the base has two entries %q", errs.Clip(string(e.name)))
		}
		b = append(strconv.AppendUint(b, uint64(e.mode), 8), ' ')
		b = append(append(b, e.name...), 0)
		b = append(b, e.id...)
	}
	return b, nil
}

func compareEntries(a, b rawEntry) int {
	n := min(len(a.name), len(b.name))
	if c := bytes.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return int(a.after(n)) - int(b.after(n))
}

// after is the byte at place n of the name as trees are ordered by it.
func (e rawEntry) after(n int) byte {
	switch {
	case n < len(e.name):
		return e.name[n]
	case e.mode == ModeTree:
		return '/'
	}
	return 0
}

// Is reports entries of the same object and mode.
func (e *rawEntry) Is(o *rawEntry) bool { return e.mode == o.mode && bytes.Equal(e.id, o.id) }

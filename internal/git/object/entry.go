package object

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"arbor/internal/errs"
)

// Entry is an entry as encoded in a tree.
type Entry struct {
	Mode Mode
	Name []byte
	ID   []byte // 20 bytes
}

// NextEntry takes one entry off a tree's bytes. It accepts what git accepts
// when it reads: zero-padded and odd modes of old histories, for instance.
func NextEntry(tree []byte) (Entry, []byte, error) {
	var mode Mode
	i := 0
	for ; i < len(tree) && tree[i] >= '0' && tree[i] <= '7' && i < 8; i++ {
		mode = mode<<3 | Mode(tree[i]-'0')
	}
	if i == 0 || i >= len(tree) || tree[i] != ' ' {
		return Entry{}, nil, fmt.Errorf("bad mode")
	}
	rest := tree[i+1:]
	end := bytes.IndexByte(rest, 0)
	if end <= 0 {
		return Entry{}, nil, fmt.Errorf("bad name")
	}
	if len(rest) < end+21 {
		return Entry{}, nil, fmt.Errorf("truncated")
	}
	return Entry{Mode: mode.canonical(), Name: rest[:end], ID: rest[end+1 : end+21]}, rest[end+21:], nil
}

// ParseTree cuts a tree into its entries. Error: Invalid for a damaged tree.
func ParseTree(contents []byte) ([]Entry, error) {
	entries := make([]Entry, 0, bytes.Count(contents, []byte{0}))
	for len(contents) > 0 {
		e, rest, err := NextEntry(contents)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "a tree of the base is damaged", err)
		}
		entries, contents = append(entries, e), rest
	}
	return entries, nil
}

// EncodeTree returns the tree's contents with its entries in git's order, which
// compares the name of a directory as if a slash ended it. Error: Invalid for
// a name that stands twice.
func EncodeTree(entries []Entry) ([]byte, error) {
	if !slices.IsSortedFunc(entries, CompareEntries) {
		slices.SortFunc(entries, CompareEntries)
	}
	size := 0
	for _, e := range entries {
		size += len(e.Name) + 28
	}
	b := make([]byte, 0, size)
	for i, e := range entries {
		if i > 0 && bytes.Equal(entries[i-1].Name, e.Name) {
			return nil, errs.Newf(errs.Invalid, "a tree of the base has two entries %q",
				errs.Clip(string(e.Name)))
		}
		b = append(strconv.AppendUint(b, uint64(e.Mode), 8), ' ')
		b = append(append(b, e.Name...), 0)
		b = append(b, e.ID...)
	}
	return b, nil
}

// CompareEntries compares two entries in the order of git's trees.
func CompareEntries(a, b Entry) int {
	n := min(len(a.Name), len(b.Name))
	if c := bytes.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(a.after(n)) - int(b.after(n))
}

// after is the byte at place n of the name as trees are ordered by it.
func (e Entry) after(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.Mode == ModeTree:
		return '/'
	}
	return 0
}

// Is reports entries of the same object and mode.
func (e *Entry) Is(o *Entry) bool { return e.Mode == o.Mode && bytes.Equal(e.ID, o.ID) }

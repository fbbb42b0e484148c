package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"arbor/internal/errs"
)

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Mode Mode
	Path string // bytes as they stand in the tree: not always UTF-8
	SHA  SHA
	Type Type
	Size int64 // bytes of a blob; -1 where it is not known or no blob
}

// MaxTreeBytes is the size of the largest tree object that is read: about
// half a million entries in one directory.
const MaxTreeBytes = 32 << 20

// Tree reads the entries of one tree whose names are wanted, in git's order, without
// sizes: a tree may have half a million. NotFound when it is missing, Invalid when
// sha is no tree.
func (r *Repository) Tree(ctx context.Context, sha SHA, wanted func(name []byte) bool) ([]TreeEntry, error) {
	contents, err := r.treeContents(ctx, sha)
	if err != nil {
		return nil, err
	}
	var entries []TreeEntry
	for len(contents) > 0 {
		var raw rawEntry
		if raw, contents, err = nextEntry(contents); err != nil {
			return nil, fmt.Errorf("git: tree %s: %w", sha, err)
		}
		if wanted(raw.name) {
			entries = append(entries, TreeEntry{Mode: raw.mode, Path: string(raw.name),
				SHA: SHA(hex.EncodeToString(raw.id)), Type: raw.mode.Type(), Size: -1})
		}
	}
	return entries, nil
}

// treeContents reads a tree object and checks that it is one.
func (r *Repository) treeContents(ctx context.Context, sha SHA) ([]byte, error) {
	return r.treeUpTo(ctx, sha, MaxTreeBytes)
}

// treeUpTo is treeContents for a tree of at most limit bytes, else TooLarge.
func (r *Repository) treeUpTo(ctx context.Context, sha SHA, limit int64) ([]byte, error) {
	object, contents, err := r.Contents(ctx, sha, limit)
	if object.Type != "" && object.Type != TypeTree {
		return nil, errs.Newf(errs.Invalid, "%s is a %s, not a tree", sha, object.Type)
	}
	return contents, err
}

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

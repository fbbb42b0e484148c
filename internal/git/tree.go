package git

import (
	"context"
	"encoding/hex"
	"fmt"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Mode Mode
	Path string // bytes as they stand in the tree: not always UTF-8
	SHA  SHA
	Type Type
	Size int64 // bytes of a blob; -1 where it is not known or no blob
}

// Tree reads the entries of one tree whose names are wanted, in git's order, without
// sizes: a tree may have half a million. NotFound when it is missing, Invalid when
// sha is not a tree.
func (r *Repository) Tree(ctx context.Context, sha SHA, wanted func(name []byte) bool) ([]TreeEntry, error) {
	contents, err := r.TreeContents(ctx, sha, MaxTreeBytes)
	if err != nil {
		return nil, err
	}
	var entries []TreeEntry
	for len(contents) > 0 {
		var raw object.Entry
		if raw, contents, err = object.NextEntry(contents); err != nil {
			return nil, fmt.Errorf("git: tree %s: %w", sha, err)
		}
		if wanted(raw.Name) {
			entries = append(entries, TreeEntry{Mode: raw.Mode, Path: string(raw.Name),
				SHA: SHA(hex.EncodeToString(raw.ID)), Type: raw.Mode.Type(), Size: -1})
		}
	}
	return entries, nil
}

// TreeContents reads a tree object of at most limit bytes, as it is stored. NotFound
// when it is missing, Invalid when sha is not a tree, TooLarge over the limit.
func (r *Repository) TreeContents(ctx context.Context, sha SHA, limit int64) ([]byte, error) {
	info, contents, err := r.Contents(ctx, sha, limit)
	if info.Type != "" && info.Type != TypeTree {
		return nil, errs.Newf(errs.Invalid, "%s is a %s, not a tree", sha, info.Type)
	}
	return contents, err
}

package fsck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/space"
)

// folders looks for entries next to the repositories' folders that belong to none. The
// server removes the remains of deletions and failures itself, hours later. So only names
// that it never uses are errors, and others a warning.
func (c *checker) folders(ctx context.Context) error {
	root := filepath.Join(c.Folder, "repositories")
	shards, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, shard := range shards {
		c.Progress("folders", int64(i), int64(len(shards)))
		if git.IsMirror(shard.Name()) || shard.Name() == durable.TryName || shard.Name() == packs.BootFile {
			continue // of an import, or of a server that tries whether it may write
		}
		entries, err := os.ReadDir(filepath.Join(root, shard.Name()))
		if err != nil {
			c.find(Finding{Part: "folders", Problem: err.Error()})
			continue
		}
		if err := c.shard(ctx, filepath.Join(root, shard.Name()), entries); err != nil {
			return err
		}
	}
	return nil
}

// shard looks at the folders of one shard. They are listed first and the database is
// asked afterwards: a repository's row, or its reserved id, is there before its folder.
func (c *checker) shard(ctx context.Context, dir string, entries []fs.DirEntry) error {
	var names []string
	for _, e := range entries {
		switch _, _, kind := repo.FolderOf(e.Name()); {
		case e.Name() == durable.TryName || git.IsEvicted(e.Name()):
		case kind == repo.FolderKept:
			names = append(names, e.Name())
		case kind == repo.FolderUnknown:
			c.find(Finding{Part: "folders", Problem: fmt.Sprintf("%s is nothing that Arbor makes",
				filepath.Join(dir, e.Name()))})
		}
	}
	for len(names) > 0 {
		part := names[:min(len(names), 500)]
		names = names[len(part):]
		left, err := c.maintenance.Unowned(ctx, part)
		if err != nil {
			return err
		}
		for _, name := range left {
			c.find(Finding{Part: "folders", Warning: true,
				Problem: fmt.Sprintf("%s belongs to no repository; "+
					"a server that runs removes it within hours", filepath.Join(dir, name))})
		}
	}
	return nil
}

// Less free space than this is reported.
const (
	spareShare = 0.05
	spareBytes = 1 << 30
)

func (c *checker) space(context.Context) error {
	free, all, err := space.Of(c.Folder)
	if err != nil {
		return err
	}
	if all > 0 && (free < spareBytes || float64(free) < spareShare*float64(all)) {
		c.find(Finding{Part: "space", Warning: true,
			Problem: fmt.Sprintf("%d MiB are free of %d MiB at %s", free>>20, all>>20, c.Folder)})
	}
	return nil
}

package fsck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// files looks at the files of package file: that each that has a row is there whole, and what
// else lies there. The folder and depots are listed before the rows are read, since a file is there before its row.
func (c *checker) files(ctx context.Context) error {
	root := filepath.Join(c.Folder, file.Folder)
	lying, err := filesIn(root)
	if err != nil {
		return err
	}
	listed, err := c.stored.Lists(ctx)
	if err != nil {
		return err
	}
	var rows []*file.File
	err = c.DB.ReadLong(ctx, func(tx *db.Tx) error {
		rows = nil
		return file.List(tx, func(f *file.File) { rows = append(rows, f) })
	})
	if err != nil {
		return err
	}
	c.report.Files = int64(len(rows))
	for _, f := range rows {
		if f.Depot == 0 {
			delete(lying, file.Path(f.Name))
		}
	}
	if err := c.lookAtFiles(ctx, rows, listed); err != nil {
		return err
	}
	if err := c.unheldFiles(ctx); err != nil {
		return err
	}
	for _, key := range listed.Left() {
		if !file.IsTemporary(key) {
			c.find(Finding{Part: "files", Warning: true,
				Problem: key + " belongs to nothing; a server that runs removes it within hours"})
		}
	}
	for path := range lying {
		if file.IsPath(path) {
			c.find(Finding{Part: "files", Warning: true,
				Problem: path + " belongs to nothing; a server that runs removes it within hours"})
		} else if !file.IsTemporary(path) {
			c.find(Finding{Part: "files", Problem: path + " is nothing that Arbor makes"})
		}
	}
	return nil
}

// lookAtFiles looks at each file that has a row.
func (c *checker) lookAtFiles(ctx context.Context, rows []*file.File, listed *file.DepotListing) error {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for n, f := range rows {
		has := listed.Has(f)
		g.Go(func() error {
			problem := c.lookAtFile(ctx, f, has)
			if err := ctx.Err(); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			c.Progress("files", int64(n), int64(len(rows)))
			if problem == "" {
				return nil
			}
			if there, err := c.liesThere(ctx, f); err != nil || !there {
				return err // deleted or moved during the check
			}
			names, err := c.names(ctx, []repo.ID{f.RepoID})
			if err == nil {
				c.find(Finding{Part: "files", Repository: names[f.RepoID], Problem: file.Path(f.Name) + " " + problem})
			}
			return err
		})
	}
	return g.Wait()
}

// readers is how many files are read at one time.
const readers = 4

// unheldFiles finds rows of files that no asset, no attachment and no object of Git LFS names: they take room for
// nothing. And objects that name another content.
func (c *checker) unheldFiles(ctx context.Context) error {
	err := c.countFiles(ctx, "%d of its files belong to no release, no text and no object of Git LFS",
		`SELECT f.repo_id, COUNT(*) FROM files f
			WHERE NOT EXISTS (SELECT 1 FROM release_assets x WHERE x.file_id = f.id)
				AND NOT EXISTS (SELECT 1 FROM attachments x WHERE x.file_id = f.id)
				AND NOT EXISTS (SELECT 1 FROM lfs_objects x WHERE x.file_id = f.id) GROUP BY f.repo_id`)
	if err != nil {
		return err
	}
	return c.countFiles(ctx, "%d of its objects of Git LFS name another content than that of their files",
		`SELECT x.repo_id, COUNT(*) FROM lfs_objects x JOIN files f ON f.id = x.file_id
			WHERE x.oid <> f.sha256 OR x.size <> f.size OR x.repo_id <> f.repo_id GROUP BY x.repo_id`)
}

// countFiles reports a problem of each repository for which a query has a number.
func (c *checker) countFiles(ctx context.Context, problem, query string) error {
	found := map[repo.ID]int64{}
	err := c.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
		found, err = db.QueryMap[repo.ID, int64](tx, query)
		return err
	})
	if err != nil || len(found) == 0 {
		return err
	}
	names, err := c.names(ctx, slices.Collect(maps.Keys(found)))
	for id, n := range found {
		c.find(Finding{Part: "files", Repository: names[id], Problem: fmt.Sprintf(problem, n)})
	}
	return err
}

// filesIn lists the files below a folder that may be missing, with the folder's name, by path.
func filesIn(root string) (map[string]bool, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted during the check
		}
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(filepath.Dir(root), path)
		found[filepath.ToSlash(below)] = true
		return err
	})
	return found, err
}

// lookAtFile returns what is wrong with a file; empty: nothing. Options.Full reads its content. has says that the
// list of its depot has it.
func (c *checker) lookAtFile(ctx context.Context, f *file.File, has bool) string {
	if f.Depot != 0 {
		return c.lookInDepot(ctx, f, has)
	}
	in, err := os.Open(filepath.Join(c.Folder, filepath.FromSlash(file.Path(f.Name))))
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing"
	} else if err != nil {
		return err.Error()
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return err.Error()
	case info.Size() != f.Size:
		return fmt.Sprintf("has %d bytes and should have %d", info.Size(), f.Size)
	case !c.Full || ctx.Err() != nil:
		return ""
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err.Error()
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return "is not what was uploaded: its SHA-256 is another"
	}
	return ""
}

// lookInDepot is lookAtFile for a file in a depot. One that a list does not have may be newer than that.
func (c *checker) lookInDepot(ctx context.Context, f *file.File, has bool) string {
	if has && !c.Full {
		return ""
	}
	err := c.stored.Compare(ctx, f)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, depot.ErrMissing):
		return "is missing"
	case errors.Is(err, depot.ErrDamaged):
		return "is not what was uploaded: its size or SHA-256 is another"
	}
	return err.Error()
}

// liesThere reports whether a file still has its row, and lies where it did.
func (c *checker) liesThere(ctx context.Context, f *file.File) (there bool, err error) {
	err = c.DB.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM files WHERE name = $1 AND depot_id = $2)`, f.Name,
			f.Depot).Scan(&there)
	})
	return there, err
}

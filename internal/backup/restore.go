package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/identity"
)

// Destination is the empty store that a backup goes into.
type Destination struct {
	Database db.Options
	Folder   string // the data folder, which exists
	// Verified is called when the backup was found whole, before anything is touched; nil: nobody.
	Verified func(*Manifest)
	// Progress is called when a part begins, and within it with the amount done. It may be nil.
	Progress func(part string, done, all int64)
}

// Errors of stores that are not there for a backup.
var (
	ErrNotEmpty   = errors.New("the store is not empty: restore into a new folder (--data NEW) or an empty database")
	ErrUnfinished = errors.New(
		"a backup was being restored into this store, and that did not end: restore it again")
)

const (
	marker      = "restoring" // a file that is in the data folder while a backup is restored
	unpackedDir = ".unpacked" // holds a backup that came in a stream, below the data folder
)

// Marks reports the name of a file that a restore leaves in the data folder until it has ended.
func Marks(name string) bool { return name == marker }

// CheckWhole returns ErrUnfinished for a data folder in which a restore did not end.
func CheckWhole(folder string) error {
	_, err := os.Lstat(filepath.Join(folder, marker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, ErrUnfinished)
}

// restore is one restore.
type restore struct {
	Destination
	*opened
	resumed bool // an earlier restore did not end
	bound   bool // the folder and the database belong together, and did so before
	root    *os.Root
	done    atomic.Int64
}

// FromStream is FromFolder for a stream, which needs the space of the backup once more.
func FromStream(ctx context.Context, from io.Reader, to Destination) error {
	dir := filepath.Join(to.Folder, unpackedDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := unpack(ctx, from, dir); err != nil {
		return err
	}
	return FromFolder(ctx, dir, to)
}

// FromFolder restores a store from a backup. First it reads the whole backup, and checks that the store is empty
// and that neither its folder nor its database is another store's. Then a marker is set, with which no store
// opens, folder and database are bound, objects are copied, the rows are committed, and the marker goes.
// Errors: ErrDamaged, ErrNotEmpty, those of package identity.
func FromFolder(ctx context.Context, dir string, to Destination) error {
	return fromFolder(ctx, dir, to, func(r *restore) error {
		if err := r.each(ctx, "verify", func(f *File, _ []string) error { return r.read(f, io.Discard) }); err != nil {
			return err
		}
		if err := r.begin(ctx); err != nil {
			return err
		}
		if err := r.copyFiles(ctx); err != nil {
			return err
		}
		return r.loadTables(ctx)
	})
}

// fromFolder checks the rows of a backup and the store, and calls fill, which sets the marker and restores.
func fromFolder(ctx context.Context, dir string, to Destination, fill func(*restore) error) error {
	if to.Progress == nil {
		to.Progress = func(string, int64, int64) {}
	}
	lock, err := lockFolder(dir, false)
	if err != nil {
		return err
	}
	defer lock.Close()
	root, err := os.OpenRoot(to.Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	r := &restore{Destination: to, opened: &opened{dir: dir}, root: root, resumed: CheckWhole(to.Folder) != nil}
	if err := r.verify(); err != nil {
		return err
	}
	if err := r.checkEmpty(ctx); err != nil {
		return err
	}
	if r.bound, err = identity.Check(ctx, to.Database, r.store()); err != nil {
		return err
	}
	if err := fill(r); err != nil {
		return err
	}
	if err := root.Remove(marker); err != nil {
		return err
	}
	return durable.Sync(to.Folder)
}

// verify reads the manifest and the rows.
func (r *restore) verify() (err error) {
	if r.opened, err = openBackup(r.dir); err != nil {
		return err
	}
	if err := db.CheckBackup(r.manifest.Versions); err != nil {
		return err
	}
	if err := r.read(&r.manifest.Tables, io.Discard); err != nil {
		return err
	}
	return r.verifyTables()
}

// each calls do with each file of the backup, by several goroutines. Files with the same
// content come as one, with the paths of all.
func (r *restore) each(ctx context.Context, part string, do func(f *File, paths []string) error) error {
	groups := map[string][]string{}
	var list []*File
	var all int64
	for i := range r.manifest.Files {
		f := &r.manifest.Files[i]
		if groups[f.SHA256] == nil {
			list = append(list, f)
			all += f.Size
		}
		groups[f.SHA256] = append(groups[f.SHA256], f.Path)
	}
	r.done.Store(0)
	r.Progress(part, 0, all)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, f := range list {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(f, groups[f.SHA256]); err != nil {
				return err
			}
			r.Progress(part, r.done.Add(f.Size), all)
			return nil
		})
	}
	return g.Wait()
}

// checkEmpty checks that the store is empty, except for what an earlier restore left.
func (r *restore) checkEmpty(ctx context.Context) error {
	if r.resumed {
		return nil
	}
	for _, dir := range storeDirs {
		err := fs.WalkDir(r.root.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				err = ErrNotEmpty
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !strings.Contains(r.Database.URL, "://") {
		if _, err := os.Stat(r.Database.URL); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	empty, err := db.Empty(ctx, r.Database)
	if err == nil && !empty {
		err = ErrNotEmpty
	}
	return err
}

// begin calls Verified, sets the marker, removes what an earlier restore left, and binds the folder and the database.
func (r *restore) begin(ctx context.Context) error {
	if r.Verified != nil {
		r.Verified(r.manifest)
	}
	if !r.resumed {
		if err := durable.Replace(filepath.Join(r.Folder, marker), func(*os.File) error {
			return nil
		}); err != nil {
			return err
		}
		return r.bind(ctx)
	}
	empty, err := db.Empty(ctx, r.Database)
	if err == nil && !empty && !r.bound { // by whom it was filled, nobody knows
		err = ErrNotEmpty
	}
	if err != nil {
		return err
	}
	for _, dir := range storeDirs {
		if err := r.root.RemoveAll(dir); err != nil {
			return err
		}
	}
	if !empty { // the rows were committed, and the marker was still there
		if err := db.Erase(ctx, r.Database); err != nil {
			return err
		}
	}
	return r.bind(ctx)
}

func (r *restore) store() identity.Store {
	return identity.Store{Folder: r.Folder, URL: r.Database.URL}
}

func (r *restore) bind(ctx context.Context) error {
	d, err := db.Open(ctx, r.Database)
	if err != nil {
		return err
	}
	return errors.Join(identity.Bind(ctx, d, r.store(), identity.Fill), d.Close())
}

// copyFiles copies what the data folder holds. Objects never change, so those that several
// repositories have are there once.
func (r *restore) copyFiles(ctx context.Context) error {
	err := r.each(ctx, "copy", func(f *File, paths []string) error {
		for i, to := range paths {
			if err := r.makeDirs(to); err != nil {
				return err
			}
			if i > 0 && strings.Contains(to, "/objects/") && r.root.Link(paths[0], to) == nil {
				continue
			}
			if err := r.copyFile(f, to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, top := range storeDirs {
		err := filepath.WalkDir(filepath.Join(r.Folder, top),
			func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					err = durable.Sync(path)
				}
				return err
			})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return durable.Sync(r.Folder)
}

// makeDirs creates the folder of a file, and with HEAD the folders that git requires in a repository.
func (r *restore) makeDirs(file string) error {
	dirs := []string{""}
	if path.Base(file) == "HEAD" {
		dirs = append(dirs, "refs/heads", "objects/info", "objects/pack")
	}
	for _, dir := range dirs {
		if err := r.root.MkdirAll(path.Join(path.Dir(file), dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (r *restore) copyFile(f *File, to string) error {
	out, err := r.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if isConfig(to) { // git obeys it, so write our own in place of the backup's
		_, err = out.WriteString(git.Config)
	} else {
		err = r.read(f, out)
	}
	return errors.Join(err, out.Sync(), out.Close())
}

// isConfig reports a repository's own configuration.
func isConfig(file string) bool {
	return path.Base(file) == "config" && strings.HasPrefix(file, repositoriesDir+"/")
}

func (r *restore) loadTables(ctx context.Context) error {
	r.Progress("database", 0, 0)
	f, err := os.Open(filePath(r.dir, r.manifest.Tables.SHA256))
	if err != nil {
		return err
	}
	defer f.Close()
	return load(ctx, f, r.Database, adapt)
}

// adapt changes a row for the restored store, and reports that it is left out. Files and packs are in the data folder
// now, wherever they were: a depot belongs to the store that was saved, and so do the bundles in it.
func adapt(t *db.Table, row []any) (leaveOut bool) {
	zero := map[string]string{"files": "depot_id", "repos": "packs"}[t.Name]
	if i := slices.IndexFunc(t.Columns, func(c db.Column) bool { return c.Name == zero }); i >= 0 {
		row[i] = int64(0)
	}
	return slices.Contains([]string{"depots", "packs", "pack_files", "bundles"}, t.Name) || waiting(t, row)
}

// waiting reports what hooks were still to be told when the backup was made. A restored store does not send
// it: the store that was saved did so itself, or is alive and sends it still. The same holds for mails.
func waiting(t *db.Table, row []any) bool {
	if t.Name == "mails" || t.Name == "mail_sites" {
		return true
	}
	if t.Name != "hook_deliveries" {
		return false
	}
	i := slices.IndexFunc(t.Columns, func(c db.Column) bool { return c.Name == "state" })
	return row[i] == int64(hook.Waiting)
}

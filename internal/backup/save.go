package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/backup/tables"
	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/file"
	"arbor/internal/packs"
	"arbor/internal/repo"
)

// Source is the store that is backed up.
type Source struct {
	DB     *db.DB
	Folder string // the data folder
	// Files reads those files that do not lie in the data folder. It may be nil if there are none.
	Files *file.Store
	// Packs brings the packs of repositories that do not lie in the data folder. It may be nil if there are none.
	Packs *packs.Service
	// Progress is called when a part begins, and within it with the amount done. It may be nil.
	Progress func(part string, done, all int64)
	// Problem is called with a line for each file of an earlier backup in the folder that is missing or altered;
	// nil: nobody.
	Problem func(line string)
}

// target is where a backup goes. All but spool and finish are called by several goroutines.
type target interface {
	spool() string                                 // a folder for a large temporary file
	place() string                                 // where it is, for people; empty: it is a stream
	has(f *File) bool                              // fills in the digest of a file that is there already; it may be known
	put(from io.Reader, f *File) error             // copies f.Size bytes, and fills in their digest
	keep(spooled *os.File, f *File) error          // takes over a spooled file, whose digest f has
	finish(ctx context.Context, m *Manifest) error // makes it a backup
}

// save is one backup.
type save struct {
	Source
	to       target
	manifest Manifest
	repos    []snapshotRepo
	files    []*file.File // those of package file

	mu   sync.Mutex
	seen map[string]seenFile // files of objects by name: forks share them
	done atomic.Int64
}

// snapshotRepo is a repository of the snapshot.
type snapshotRepo struct {
	id      repo.ID
	purges  int64
	packs   int64
	hasRefs bool
}

// seenFile is a file that the backup has.
type seenFile struct {
	info fs.FileInfo
	sum  string
}

// parallel is how many repositories are copied at one time.
const parallel = 4

func (s *save) run(ctx context.Context) (*Manifest, error) {
	if s.Progress == nil {
		s.Progress = func(string, int64, int64) {}
	}
	s.seen = map[string]seenFile{}
	err := repo.HoldFolders(ctx, s.DB, s.to.place(), func(ctx context.Context) (time.Time, error) {
		if err := s.saveTables(ctx); err != nil {
			return time.Time{}, fmt.Errorf("back up the database: %w", err)
		}
		return s.manifest.At, s.saveRest(ctx)
	})
	return &s.manifest, err
}

// saveRest copies what the snapshot names, and makes it a backup.
func (s *save) saveRest(ctx context.Context) error {
	if err := s.saveRepositories(ctx); err != nil {
		return err
	}
	if err := s.saveStored(ctx); err != nil {
		return fmt.Errorf("back up the files of releases: %w", err)
	}
	for _, dir := range keyDirs {
		if err := s.saveDir(dir); err != nil {
			return err
		}
	}
	slices.SortFunc(s.manifest.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return s.to.finish(ctx, &s.manifest)
}

// saveTables takes the snapshot: its rows, and which repositories there are.
func (s *save) saveTables(ctx context.Context) error {
	s.Progress("database", 0, 0)
	spooled, err := os.CreateTemp(s.to.spool(), temporary)
	if err != nil {
		return err
	}
	defer os.Remove(spooled.Name())
	defer spooled.Close()
	sum := sha256.New()
	err = s.DB.ReadLong(ctx, func(tx *db.Tx) error { // which may run again
		sum.Reset()
		if _, err := spooled.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := spooled.Truncate(0); err != nil {
			return err
		}
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		newest, err := tables.Write(tx, io.MultiWriter(durable.NewWriter(spooled), sum))
		if err != nil {
			return err
		}
		if s.manifest.Versions, err = db.Versions(tx); err != nil {
			return err
		}
		s.manifest.Format, s.manifest.At, s.manifest.Newest = format, now.Time(), newest.Time()
		if s.repos, err = repositories(tx); err != nil {
			return err
		}
		s.files = nil
		return file.List(tx, func(f *file.File) { s.files = append(s.files, f) })
	})
	if err != nil {
		return err
	}
	f := &s.manifest.Tables
	f.Path, f.SHA256 = tablesPath, hex.EncodeToString(sum.Sum(nil))
	if f.Size, err = spooled.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	return s.to.keep(spooled, f)
}

func repositories(tx *db.Tx) (list []snapshotRepo, err error) {
	return db.QueryList(tx, func(row db.Scanner) (r snapshotRepo, err error) {
		err = row.Scan(&r.id, &r.purges, &r.packs, &r.hasRefs)
		return r, err
	}, `SELECT id, purges, packs, EXISTS (SELECT 1 FROM refs WHERE repo_id = repos.id) FROM repos
		ORDER BY id`)
}

func (s *save) saveRepositories(ctx context.Context) error {
	all := int64(len(s.repos))
	s.Progress("repositories", 0, all)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, r := range s.repos {
		g.Go(func() error {
			files, err := s.saveRepository(ctx, r)
			if err != nil {
				return fmt.Errorf("back up the objects of repository %d: %w", r.id, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.manifest.Files = append(s.manifest.Files, files...)
			s.Progress("repositories", s.done.Add(1), all)
			return nil
		})
	}
	return g.Wait()
}

// tries is how often the files of a repository are listed again if they move during the copy: the
// folder after a deletion, and packs when they are combined, whose new pack is there before.
const tries = 20

func (s *save) saveRepository(ctx context.Context, r snapshotRepo) (files []File, err error) {
	for range tries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.packs > 0 {
			files, err = s.saveKept(ctx, r)
		} else {
			var dir string
			if dir, err = repo.FindFolder(filepath.Join(s.Folder, repositoriesDir), r.id, r.purges); err == nil {
				files, err = s.saveFiles(dir, r.path())
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
		if !r.hasRefs {
			return nil, nil // nothing was pushed there yet
		}
	}
	return nil, err
}

// path is where the backup has the repository.
func (r snapshotRepo) path() string {
	return path.Join(repositoriesDir, filepath.ToSlash(repo.FolderPath(r.id, r.purges)))
}

// saveKept is saveRepository for one whose packs lie in a depot: they are brought to this disk first.
func (s *save) saveKept(ctx context.Context, r snapshotRepo) ([]File, error) {
	if s.Packs == nil {
		return nil, errors.New("its packs do not lie in the data folder")
	}
	objects, release, err := s.Packs.OpenFolder(ctx, repo.Folder{ID: r.id, Purges: r.purges})
	if err != nil {
		return nil, err
	}
	defer release()
	return s.saveFiles(objects.Dir(), r.path())
}

// saveStored copies the files of package file that the snapshot names.
func (s *save) saveStored(ctx context.Context) error {
	all := int64(len(s.files))
	s.done.Store(0)
	s.Progress("files", 0, all)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, x := range s.files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f, err := s.saveStoredFile(ctx, x)
			if err != nil {
				return err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.manifest.Files = append(s.manifest.Files, f)
			s.Progress("files", s.done.Add(1), all)
			return nil
		})
	}
	return g.Wait()
}

// saveStoredFile copies a file from the data folder or from where else it lies. One that was moved since the snapshot
// is found where it is now.
func (s *save) saveStoredFile(ctx context.Context, x *file.File) (File, error) {
	at := file.Path(x.Name)
	if x.Depot == 0 {
		f, err := s.saveFile(filepath.Join(s.Folder, filepath.FromSlash(at)), at)
		if !errors.Is(err, fs.ErrNotExist) || s.Files == nil {
			return f, err
		}
	}
	f := File{Path: at, Size: x.Size, SHA256: x.SHA256}
	if s.to.has(&f) {
		return f, nil
	}
	in, err := s.Files.Open(ctx, x)
	if err != nil {
		return f, fmt.Errorf("%s: %w", at, err)
	}
	defer in.Close()
	if err := s.to.put(in, &f); err != nil {
		return f, err
	}
	if f.SHA256 != x.SHA256 {
		return f, fmt.Errorf("%s is not what was uploaded: its SHA-256 is another", at)
	}
	return f, nil
}

// saveFiles copies the files of a repository's folder that hold its objects. All others
// can be rebuilt, and are after a restore.
func (s *save) saveFiles(dir, as string) ([]File, error) {
	names, err := objectFiles(dir)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(names))
	for i, name := range names {
		files[i], err = s.saveFile(filepath.Join(dir, filepath.FromSlash(name)), path.Join(as, name))
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// objectFiles lists the files of a repository's folder that a backup holds. A pack without
// its index is not there yet, or is being set aside.
func objectFiles(dir string) ([]string, error) {
	names := []string{"HEAD", "config"}
	entries, err := os.ReadDir(filepath.Join(dir, "objects"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if len(e.Name()) != 2 && e.Name() != "pack" {
			continue
		}
		below, err := os.ReadDir(filepath.Join(dir, "objects", e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a folder of loose objects that was empty
		} else if err != nil {
			return nil, err
		}
		indexed := map[string]bool{}
		for _, f := range below {
			if stem, ok := strings.CutSuffix(f.Name(), ".idx"); ok {
				indexed[stem] = true
				names = append(names, "objects/pack/"+stem+".pack")
			}
		}
		for _, f := range below {
			stem, ext, _ := strings.Cut(f.Name(), ".")
			name := "objects/" + e.Name() + "/" + f.Name()
			if objectFile.MatchString(name) && ext != "pack" && (ext == "" || indexed[stem]) {
				names = append(names, name)
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !objectFile.MatchString(name) }), nil
}

// saveDir copies the files of a folder in the data folder that may be missing.
func (s *save) saveDir(name string) error {
	entries, err := os.ReadDir(filepath.Join(s.Folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f, err := s.saveFile(filepath.Join(s.Folder, name, e.Name()), name+"/"+e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was replaced
		} else if err != nil {
			return err
		}
		s.manifest.Files = append(s.manifest.Files, f)
	}
	return err
}

// saveFile copies a file, unless the target has it already.
func (s *save) saveFile(from, as string) (f File, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return f, err
	}
	f = File{Path: as, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if s.to.has(&f) {
		return f, nil
	}
	name := path.Base(as)
	s.mu.Lock()
	seen, ok := s.seen[name]
	s.mu.Unlock()
	if ok && os.SameFile(seen.info, info) {
		f.SHA256 = seen.sum
		return f, nil
	}
	in, err := os.Open(from)
	if err != nil {
		return f, err
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil {
		return f, err
	}
	f.Size, f.Modified = info.Size(), info.ModTime().UnixNano()
	if err := s.to.put(in, &f); err != nil {
		return f, err
	}
	if strings.HasPrefix(name, "pack-") {
		s.mu.Lock()
		s.seen[name] = seenFile{info, f.SHA256}
		s.mu.Unlock()
	}
	return f, nil
}

package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// A repository with refs has a directory, and every existing directory is readable. Anything else is a
// failure of this machine and never a 404: a disk is not mounted, or another user's command created the
// directory. Service.open detects it, and the service remembers it until the directory is usable or the
// repository is deleted; /readyz and the metrics report it.

// FolderError means that the directory of a repository with refs is missing, or that a directory cannot be
// read. Clients get a 500, and the log contains the path.
type FolderError struct {
	Folder string // absolute
	Err    error  // fs.ErrNotExist, or why it cannot be read
}

// Error names the folder, for the log and the operator.
func (e *FolderError) Error() string {
	return fmt.Sprintf("the folder of a repository cannot be used: %s: %v; arbor check shows the way back",
		e.Folder, e.Err)
}

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// Broken reports whether an error is a [FolderError].
func Broken(err error) bool {
	var e *FolderError
	return errors.As(err, &e)
}

// Open returns the objects of a repository with these purges, as [Service.Git] does. If the repository was
// purged since, it returns those of its new folder.
func (s *Service) Open(
	ctx context.Context, id ID, purges int64,
) (objects *git.Repository, release func(), err error) {
	now, err := s.standing(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return s.open(ctx, Folder{id, purges}, now.packs)
}

// open is Open with the value of Repo.Packs up to which the folder must be complete.
func (s *Service) open(
	ctx context.Context, f Folder, packs int64,
) (objects *git.Repository, release func(), err error) {
	objects, release, err = s.bring(ctx, f, packs)
	if err == nil && objects.Exists() {
		return objects, release, nil
	}
	if err != nil && (ctx.Err() != nil || errs.Is(err, errs.NotFound) || packs > 0) {
		return nil, nil, err
	}
	return s.openOther(ctx, f, objects, release, err)
}

// openOther is Open where the folder is not there or cannot be read.
func (s *Service) openOther(
	ctx context.Context, f Folder, objects *git.Repository, release func(), unreadable error,
) (*git.Repository, func(), error) {
	now, err := s.standing(ctx, f.ID)
	switch {
	case err == nil && now.purges != f.Purges && now.there:
		if unreadable == nil {
			release()
		}
		return s.bring(ctx, Folder{f.ID, now.purges}, now.packs)
	case err == nil && unreadable == nil && !now.hasRefs:
		return objects, release, nil // nothing was pushed there yet, or the repository is gone
	}
	if unreadable == nil {
		release()
	}
	if err != nil {
		return nil, nil, err
	}
	// The cached state may be older than the deletion that removed the directory.
	if now, err = s.standingNow(ctx, f.ID); err != nil {
		return nil, nil, err
	}
	if !now.there || now.purges != f.Purges {
		return nil, nil, errs.Absent()
	}
	if err := s.look(f); err != nil && (now.hasRefs || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, s.NoteBroken(ctx, f, err)
	}
	return s.bring(ctx, f, now.packs) // the first push has just created it
}

// look returns why a directory cannot be used, or nil.
func (s *Service) look(f Folder) error { return s.git.Repository(s.Path(f.ID, f.Purges)).Check() }

// standing is the stored state of a repository's directory.
type standing struct {
	there   bool // the repository exists and is not being deleted
	hasRefs bool
	purges  int64
	packs   int64
}

// standing returns the stored state of a repository's directory, cached under the state of the whole
// database.
func (s *Service) standing(ctx context.Context, id ID) (standing, error) {
	return s.standings.Read(s.db.State(ctx), id, func() (standing, error) { return s.standingNow(ctx, id) })
}

func (s *Service) standingNow(ctx context.Context, id ID) (now standing, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := standingsOf(tx, []ID{id})
		now = found[id]
		return err
	})
	return now, err
}

// maxBroken is the number of remembered broken directories.
const maxBroken = 1000

// broken holds the directories found broken.
type broken struct {
	mu      sync.Mutex
	folders map[Folder]error
}

// NoteBroken records that a repository's directory is broken, and returns a [FolderError]. It logs the
// first occurrence as an error.
func (s *Service) NoteBroken(ctx context.Context, f Folder, cause error) error {
	e := &FolderError{s.Path(f.ID, f.Purges), cause}
	s.broken.mu.Lock()
	defer s.broken.mu.Unlock()
	if s.broken.folders[f] == nil && len(s.broken.folders) < maxBroken {
		s.broken.folders[f] = cause
		s.log.ErrorContext(ctx, "the folder of a repository is missing or cannot be used", "repository", f.ID,
			"folder", e.Folder, "error", cause)
	}
	return e
}

// CountBroken counts the repositories whose directory this process has found missing or unreadable and that
// still are. It is free while there are none.
func (s *Service) CountBroken(ctx context.Context) (int, error) {
	s.broken.mu.Lock()
	noted := slices.Collect(maps.Keys(s.broken.folders))
	s.broken.mu.Unlock()
	still := 0
	err := db.InParts(noted, func(part []Folder) error {
		ids := make([]ID, len(part))
		for n, f := range part {
			ids[n] = f.ID
		}
		now, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]standing, error) {
			return standingsOf(tx, ids)
		})
		if err != nil {
			return err
		}
		for _, f := range part {
			if s.stillBroken(ctx, f, now[f.ID]) {
				still++
			}
		}
		return nil
	})
	return still, err
}

// HasFolders reports whether any repository has a directory.
func (s *Service) HasFolders() (bool, error) {
	shards, err := os.ReadDir(s.dir)
	for _, shard := range shards {
		names, _ := os.ReadDir(filepath.Join(s.dir, shard.Name()))
		for _, e := range names {
			if _, ok := ParseFolder(e.Name()); ok && e.IsDir() {
				return true, nil
			}
		}
	}
	return false, err
}

// stillBroken checks a directory again, and forgets it if it is usable.
func (s *Service) stillBroken(ctx context.Context, f Folder, now standing) bool {
	err := s.look(f)
	needed := now.hasRefs && now.packs == 0 // a cache may be empty
	if now.there && now.purges == f.Purges && err != nil && (needed || !errors.Is(err, fs.ErrNotExist)) {
		return true
	}
	s.broken.mu.Lock()
	defer s.broken.mu.Unlock()
	if s.broken.folders[f] != nil {
		delete(s.broken.folders, f)
		s.log.InfoContext(ctx, "the folder of a repository is back, or the repository is gone",
			"repository", f.ID, "folder", s.Path(f.ID, f.Purges))
	}
	return false
}

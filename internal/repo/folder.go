package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
)

// A repository's directory is named after its id and, after a purge, Repo.Purges: a purge copies the
// remaining objects to a new directory, and one transaction switches the repository to it (package purge).
// So processes on any node continue to read in the old directory, and caches of the old directory are not
// used for the new one. Objects found in the old directory must no longer be referred to: each transaction
// that refers to objects compares Repo.Purges.
//
// A repository's directory is created after the transaction that inserts its row or reserves its id
// (ReserveID), and ids are not reused. So a directory whose id has neither a row nor a reservation belongs
// to a deleted or unfinished repository and can be removed. To check this, list the directories first and
// query the database afterwards.
//
// Such a directory is first renamed. That of a deleted repository is removed soon afterwards
// (maintenance/discard.go), others after a grace period if the database still does not have a row. Times in
// the new names are of the database's clock.

// Git returns the objects of the access's repository. Their directory is not removed before release is
// called. Errors: 404 for a deleted repository; [FolderError].
func (s *Service) Git(ctx context.Context, a *Access) (objects *git.Repository, release func(), err error) {
	return s.open(ctx, Folder{a.ID, a.Purges}, a.Packs)
}

// maxOpened is how often GitInUse looks for a directory that a purge has just created.
const maxOpened = 5

// GitInUse is Git for transfers: also a purge keeps the directory until release is called.
func (s *Service) GitInUse(
	ctx context.Context, a *Access,
) (objects *git.Repository, release func(), err error) {
	for try := 1; ; try++ {
		objects, unpin, err := s.Git(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		done, ok := objects.Use()
		if ok || !objects.Exists() || try == maxOpened {
			return objects, func() { done(); unpin() }, nil
		}
		unpin()
		now := *a.Repo
		standing, err := s.standing(ctx, a.ID)
		if err != nil {
			return nil, nil, err
		}
		now.Purges, now.Packs = standing.purges, standing.packs
		a = &Access{Repo: &now, Role: a.Role, Caller: a.Caller}
	}
}

// GitOfBoth is Git for commands on two repositories together. The caller must be able to see both.
func (s *Service) GitOfBoth(
	ctx context.Context, a, b *Access,
) (objects *git.Repository, release func(), err error) {
	if a.ID == b.ID {
		return s.Git(ctx, a)
	}
	first, doneFirst, err := s.GitInUse(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	second, doneSecond, err := s.GitInUse(ctx, b)
	if err != nil {
		doneFirst()
		return nil, nil, err
	}
	objects, drop, err := git.Joint(first, second)
	if err != nil {
		doneSecond()
		doneFirst()
		return nil, nil, err
	}
	return objects, func() { drop(); doneSecond(); doneFirst() }, nil
}

// GitOf is Git for work without a caller, such as maintenance and test merges.
func (s *Service) GitOf(ctx context.Context, repoID ID) (objects *git.Repository, release func(), err error) {
	now, err := s.standing(ctx, repoID)
	if err != nil {
		return nil, nil, err
	}
	return s.open(ctx, Folder{repoID, now.purges}, now.packs)
}

// Purges returns Repo.Purges of a repository, or 0 if it does not exist. Code that writes objects without
// an access reads it before, and refers to the objects only if it has not changed.
func (s *Service) Purges(ctx context.Context, repoID ID) (int64, error) {
	now, err := s.standing(ctx, repoID)
	return now.purges, err
}

// IsWhole reports whether this process knows that an object and everything reachable from it are in the
// repository's directory. It reads no files, so it can be called in a transaction.
func (s *Service) IsWhole(repoID ID, purges int64, sha git.SHA) bool {
	return s.git.Repository(s.Path(repoID, purges)).IsWhole(sha)
}

// Path returns the directory of a repository. It is named by id, never by a client's name, and is in one of
// 256 parent directories.
func (s *Service) Path(repoID ID, purges int64) string {
	return filepath.Join(s.dir, FolderPath(repoID, purges))
}

// Folder identifies a directory of a repository.
type Folder struct {
	ID     ID
	Purges int64 // value of Repo.Purges while the repository uses it
}

// Name returns "7.git", or "7.1790000000000000.git" after a purge.
func (f Folder) Name() string {
	if f.Purges == 0 {
		return f.ID.String() + ".git"
	}
	return fmt.Sprintf("%d.%d.git", f.ID, f.Purges)
}

// ParseFolder parses the name of a repository's directory.
func ParseFolder(name string) (f Folder, ok bool) {
	digits, ok := strings.CutSuffix(name, ".git")
	if !ok {
		return f, false
	}
	id, purges, purged := strings.Cut(digits, ".")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return f, false
	}
	f.ID = ID(n)
	if purged {
		if f.Purges, err = strconv.ParseInt(purges, 10, 64); err != nil || f.Purges <= 0 {
			return f, false
		}
	}
	return f, true
}

// Shards is the number of parent directories of repositories.
const Shards = 256

// IsShard reports whether a name is that of a parent directory of repositories.
func IsShard(name string) bool {
	n, err := strconv.ParseUint(name, 16, 8)
	return err == nil && len(name) == 2 && strconv.FormatUint(n|Shards, 16)[1:] == name
}

// Shard returns a parent directory of repositories by number, below Shards.
func (s *Service) Shard(n int64) string {
	return filepath.Join(s.dir, strconv.FormatInt(n|Shards, 16)[1:])
}

// GoneFolder is a directory that was set aside to be removed.
type GoneFolder struct {
	Folder
	At db.Time // when it was renamed; 0 in names of older versions
}

// Name returns "gone-", the time, "-", and the former name.
func (g GoneFolder) Name() string { return fmt.Sprintf("gone-%d-%s", g.At, g.Folder.Name()) }

// ParseGone parses the name of a directory that was set aside.
func ParseGone(name string) (g GoneFolder, ok bool) {
	rest, ok := strings.CutPrefix(name, "gone-")
	if !ok {
		return g, false
	}
	at, id, dated := strings.Cut(rest, "-")
	if !dated {
		at, id = "0", rest
	}
	t, err := strconv.ParseInt(at, 10, 64)
	if err != nil || t < 0 {
		return g, false
	}
	g.At = db.Time(t)
	g.Folder, ok = ParseFolder(id)
	return g, ok
}

// SetAside renames the directory of a deleted repository, with a time of the database's clock, as soon as
// this process does not use it. Then it calls then with the new path if then is not nil and the directory
// existed. A cache of packs that lie in a depot is removed instead.
func (s *Service) SetAside(f Folder, at db.Time, then func(path string)) {
	from := s.Path(f.ID, f.Purges)
	if s.git.Repository(from).IsKept() {
		s.git.Remove(from, func() { s.ending.Go(func() { s.removeCache(f) }) })
		return
	}
	to := filepath.Join(filepath.Dir(from), GoneFolder{f, at}.Name())
	s.git.Remove(from, func() {
		err := os.Rename(from, to)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			s.log.Warn("the folder of a repository that is gone stays until it is swept",
				"repository", f.ID, "error", err)
		case then != nil:
			then(to)
		}
	})
}

// removeCache ends the keeping of a folder that no repository has.
func (s *Service) removeCache(f Folder) {
	if err := os.RemoveAll(s.Path(f.ID, f.Purges)); err != nil {
		s.log.Warn("a cached folder stays until it is swept", "repository", f.ID, "error", err)
	}
}

// abandonTime bounds how long a request that failed waits for a depot.
const abandonTime = 5 * time.Second

// Abandon ends the creation of a repository under a reserved id. It removes the directory immediately, and what it has
// in a depot, because only the caller knows it. If the outcome of a COMMIT is unknown, the repository may exist and is
// kept. It works even if the caller has lost the right to create one.
func (s *Service) Abandon(ctx context.Context, id ID) {
	ctx = context.WithoutCancel(ctx)
	var mine bool
	var now db.Time
	err := s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) (err error) {
		if mine, err = releaseID(tx, id); err == nil {
			now, err = tx.Clock()
		}
		return err
	})
	if err != nil || !mine {
		s.log.WarnContext(ctx, "the folder of a repository that was not made stays until it is swept",
			"repository", id, "error", err)
		return
	}
	if s.Packs != nil {
		ctx, cancel := context.WithTimeout(ctx, abandonTime)
		defer cancel()
		if err := s.Packs.Forget(ctx, Folder{ID: id}, true); err != nil {
			s.log.WarnContext(ctx, "the packs of a repository that was not made stay until they are swept",
				"repository", id, "error", err)
		}
	}
	s.SetAside(Folder{ID: id}, now, func(path string) {
		s.ending.Go(func() {
			if err := os.RemoveAll(path); err != nil {
				s.log.WarnContext(ctx, "a folder stays until it is swept", "folder", path, "error", err)
			}
		})
	})
}

// Wait returns when directories being removed are gone.
func (s *Service) Wait() { s.ending.Wait() }

// FolderKind is the kind of an entry in a shard, by its name.
type FolderKind int

// Kinds of entries in a shard.
const (
	FolderUnknown FolderKind = iota // not created by this package
	FolderKept                      // the folder of a repository
	FolderGone                      // set aside to be removed
)

// FolderOf parses a name in a shard. For the latter two kinds it returns the repository's id, and the value
// of Repo.Purges when it used the directory.
func FolderOf(name string) (id ID, purges int64, k FolderKind) {
	if f, ok := ParseFolder(name); ok {
		return f.ID, f.Purges, FolderKept
	}
	if g, ok := ParseGone(name); ok {
		return g.ID, g.Purges, FolderGone
	}
	return 0, 0, FolderUnknown
}

package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/git"
)

// A repository's folder is named by its id and, once objects were purged from it, by
// Repo.Purges: a purge moves what stays into a new folder, and one transaction makes that
// the repository's (package purge). So a process that works in the old
// folder, on whichever node, reads on there, and nothing that this process remembers of
// the old folder is taken for the new one. Objects that were looked for in the old folder
// may not be named any more: each transaction that names objects compares Repo.Purges.
//
// A repository's folder is made after the transaction that adds its row, or that
// reserves its id (ReserveID), and no id is given out twice. So a folder whose id has
// neither belongs to a repository that was deleted or never finished, and nobody will
// need it. For this, folders are listed first and the database is asked afterwards.
//
// Such a folder is first renamed. That of a deleted repository goes soon afterwards
// (maintenance/discard.go), another one after the grace, if the database still has no row for it.
// Times in the new names are by the database's clock.

// Git returns the objects of the access's repository. They stay where they are until
// release is called: removal of a folder waits for those who have it open in
// this process. Errors: 404 for a repository that has been deleted; [FolderError].
func (s *Service) Git(ctx context.Context, a *Access) (objects *git.Repository, release func(), err error) {
	return s.Open(ctx, a.ID, a.Purges)
}

// maxOpened is how often GitInUse looks for the folder that a purge has just made.
const maxOpened = 5

// GitInUse is Git for transfers: a purge leaves the folder until release is called.
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
		if now.Purges, err = s.Purges(ctx, a.ID); err != nil {
			return nil, nil, err
		}
		a = &Access{Repo: &now, Role: a.Role, Caller: a.Caller}
	}
}

// GitOfBoth is Git for what is asked of two repositories together. The caller may see both.
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
	purges, err := s.Purges(ctx, repoID)
	if err != nil {
		return nil, nil, err
	}
	return s.Open(ctx, repoID, purges)
}

// Purges is Repo.Purges of a repository; 0 for one that is gone, or not made yet. Who
// writes objects without an access reads it before, and names them only while it stays.
func (s *Service) Purges(ctx context.Context, repoID ID) (int64, error) {
	now, err := s.standing(ctx, repoID)
	return now.purges, err
}

// IsWhole reports whether this process knows that an object and all that it leads
// to are in the repository's folder of that number. It reads no file, so a transaction
// may ask.
func (s *Service) IsWhole(repoID ID, purges int64, sha git.SHA) bool {
	return s.git.Repository(s.Path(repoID, purges)).IsWhole(sha)
}

// Path is the folder of a repository. Folders are named by id, never by a name
// that a client chose, and spread over 256 others.
func (s *Service) Path(repoID ID, purges int64) string {
	return filepath.Join(s.dir, FolderPath(repoID, purges))
}

// Folder is a folder of a repository.
type Folder struct {
	ID     ID
	Purges int64 // what Repo.Purges is while the repository has it
}

// Name is "7.git", or "7.1790000000000000.git" after a purge.
func (f Folder) Name() string {
	if f.Purges == 0 {
		return f.ID.String() + ".git"
	}
	return fmt.Sprintf("%d.%d.git", f.ID, f.Purges)
}

// ParseFolder reads the name of a repository's folder.
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

// Shards is the number of folders that repositories' folders are in.
const Shards = 256

// IsShard reports whether a name is that of a folder that repositories' folders are in.
func IsShard(name string) bool {
	n, err := strconv.ParseUint(name, 16, 8)
	return err == nil && len(name) == 2 && strconv.FormatUint(n|Shards, 16)[1:] == name
}

// Shard is one of the folders that repositories' folders are in, by its number below Shards.
func (s *Service) Shard(n int64) string {
	return filepath.Join(s.dir, strconv.FormatInt(n|Shards, 16)[1:])
}

// GoneFolder is a folder that was set aside and waits for its removal.
type GoneFolder struct {
	Folder
	At db.Time // when it was renamed; 0 in names that older versions gave
}

// Name is "gone-", the time, "-", and the name that it had.
func (g GoneFolder) Name() string { return fmt.Sprintf("gone-%d-%s", g.At, g.Folder.Name()) }

// ParseGone reads the name of a folder that waits for its removal.
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

// SetAside renames the folder of a deleted repository, at a time of the
// database's clock, as soon as nobody in this process uses it. If then is not nil, it
// is called with the new path, unless the folder did not exist.
func (s *Service) SetAside(f Folder, at db.Time, then func(path string)) {
	from := s.Path(f.ID, f.Purges)
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

// Abandon ends the making of a repository under a reserved id. Its folder goes at once,
// since only the caller knew it. If the outcome of a COMMIT is unknown, the repository
// may exist; then it stays. It is done even if the caller has lost the right to make one.
func (s *Service) Abandon(ctx context.Context, id ID) {
	ctx = db.WithCheck(context.WithoutCancel(ctx), nil)
	var mine bool
	var now db.Time
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
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
	s.SetAside(Folder{ID: id}, now, func(path string) {
		s.ending.Go(func() {
			if err := os.RemoveAll(path); err != nil {
				s.log.WarnContext(ctx, "a folder stays until it is swept", "folder", path, "error", err)
			}
		})
	})
}

// Wait returns when folders that are being removed are gone.
func (s *Service) Wait() { s.ending.Wait() }

// FolderKind is the kind of an entry next to the repositories' folders, by its name.
type FolderKind int

// The kinds of names in a shard.
const (
	FolderUnknown FolderKind = iota // nothing that this package makes
	FolderKept                      // the folder of a repository
	FolderGone                      // one that waits for its removal
)

// FolderOf reads a name in a shard; of the latter two kinds id is the repository's, and
// purges its Repo.Purges when it had that folder.
func FolderOf(name string) (id ID, purges int64, k FolderKind) {
	if f, ok := ParseFolder(name); ok {
		return f.ID, f.Purges, FolderKept
	}
	if g, ok := ParseGone(name); ok {
		return g.ID, g.Purges, FolderGone
	}
	return 0, 0, FolderUnknown
}

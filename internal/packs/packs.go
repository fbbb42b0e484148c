// Package packs keeps the packs of repositories in a depot, so that nodes need no shared disk: a repository's folder on
// a node is a cache.
//
//	packs.go  the type, and what this process knows of each cached folder
//	keep.go   adding a pack, and letting one replace others
//	load.go   bringing a folder up to date
//	fetch.go  getting one pack from where it is
//	cache.go  which folders stay on this disk; room.go: room for packs that are being loaded
//	share.go  forks, and the removal of folders
//	sweep.go  removing files that no row refers to
//	move.go   moving repositories between the data folder and a depot, and packs between depots
//	verify.go comparing rows with the objects in depots
//	bundle.go creating and removing bundles, which clients download from a depot; offer.go: which client gets one
//	metrics.go  metrics of the cache
//	store.go  the SQL; bundlestore.go: that of bundles
//
// A pack is an immutable file. It is stored as one object of the depot, or, if it has at most 64 KiB, as bytes in its
// row; so a small push needs only the database. A pack is stored durably and its row is committed before the pack is
// placed into the folder, and before the transaction that moves a ref to its objects. So every pack in a folder is
// stored, and readers may rely on it.
//
// Each change of a repository's packs increments Repo.Packs, and every request reads this number with the repository. A
// folder that is complete for the number holds everything acknowledged before; opening it costs one stat and no SQL
// statement. The stat also detects that somebody removed files from the folder.
//
// If Repo.Packs is 0, the repository's packs are in the data folder only, as without a depot. One store may have
// repositories of both kinds.
//
// What becomes of a pack in a depot:
//
//	repository hidden, archived, renamed   it stays; each request is checked before the folder is opened
//	  or transferred; membership lost;
//	  account suspended
//	repository forked                      the fork refers to the same file, or to copies of the objects it may see
//	repository deleted                     its rows are deleted with its folder; the file is deleted Service.Grace after the
//	                                       last fork that refers to it; at once if somebody removed it for good
//	objects purged                         the files of the old folder are deleted at once, unless a fork refers to them, and
//	                                       so are files that repositories of the network had before and none has any longer
//	packs consolidated                     the old file is deleted after Service.Grace
package packs

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/keyed"
	"arbor/internal/repo"
)

// Folder begins the keys of packs in depots.
const Folder = "packs"

// Sizes in bytes.
const (
	maxInline  = 64 << 10 // of a pack with its indexes that lies in the database
	maxInlines = 32 << 20 // of those of one repository together
)

// Grace is how long a file stays in its depot after the last row that refers to it is gone, unless the operator says
// otherwise. So a database that is restored to a time at most that long ago still finds its packs.
const Grace = 7 * 24 * time.Hour

// LeastGrace is the least that an operator may set: readers may still load what was replaced.
const LeastGrace = 3 * time.Hour

// Service keeps packs. It implements repo.Packs.
type Service struct {
	// Size is how many bytes the cached folders may take together; 0: as many as there are. Set before Run.
	Size int64
	// BundleSize is how many bytes a repository's packs must have for a bundle; 0: none has one. Set before Run.
	BundleSize int64
	// Grace is how long files that no row refers to any longer stay. Set before Run.
	Grace time.Duration

	db    *db.DB
	git   *git.Git
	log   *slog.Logger
	repos *repo.Service
	files *file.Store

	counters counters
	tidied   atomic.Int64 // rounds

	mu         sync.Mutex
	usesDepot  *bool // result of UsesDepot; nil: not determined yet
	cached     map[repo.Folder]*cached
	ancestries map[repo.ID]ancestry

	ancestryLocks keyed.Mutex[repo.ID] // held while an entry of ancestries is computed

	room room // for packs that are being loaded
}

// New returns the service.
func New(d *db.DB, g *git.Git, log *slog.Logger, repos *repo.Service, files *file.Store) *Service {
	return &Service{Grace: Grace, db: d, git: g, log: log, repos: repos, files: files,
		counters: newCounters(), cached: map[repo.Folder]*cached{}, ancestries: map[repo.ID]ancestry{}}
}

// UsesDepot reports whether the packs of new repositories are stored in a depot. The answer does not change while this
// process runs.
func (s *Service) UsesDepot(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.usesDepot == nil {
		id, _, err := s.files.Place(ctx)
		if err != nil {
			return false, err
		}
		keeps := id != 0
		s.usesDepot = &keeps
	}
	return *s.usesDepot, nil
}

// cached is what this process knows of a folder that is a cache.
type cached struct {
	folder   repo.Folder
	updating chan struct{} // a lock whose holder brings the folder up to date

	mu         sync.Mutex
	generation int64            // of Repo.Packs up to which the folder is complete; 0: unknown
	names      map[string]int64 // the packs that it must have, with the sizes of their files
	stamp      time.Time        // modification time of objects/pack when it was complete; zero: look again
	size       int64            // bytes of its packs, about
	inline     int64            // bytes of the repository's packs in the database, about
	used       time.Time        // when it was last opened
	replaced   map[string]time.Time
}

// cacheOf returns what is known of a folder.
func (s *Service) cacheOf(f repo.Folder) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cached[f]
	if c == nil {
		c = &cached{folder: f, updating: make(chan struct{}, 1)}
		s.cached[f] = c
	}
	return c
}

// minStampAge is the minimum age of a directory's modification time that isCurrent relies on: clocks of file
// systems are coarse, so two changes shortly after each other may have the same time.
const minStampAge = 100 * time.Millisecond

// isCurrent reports whether the folder is complete for a generation of Repo.Packs; 0: for the last known one.
func (c *cached) isCurrent(generation int64, objects *git.Repository) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
	// generation is lower than c.generation if the database was restored to an earlier state.
	if c.generation == 0 || generation > 0 && c.generation != generation {
		return false
	}
	info, err := os.Stat(objects.PacksDir())
	if err != nil {
		return len(c.names) == 0 && os.IsNotExist(err)
	}
	if info.ModTime().Equal(c.stamp) {
		return true
	}
	return c.recheck(objects, info.ModTime())
}

// recheck reports whether the folder has all packs that it must have, and then updates the stamp.
func (c *cached) recheck(objects *git.Repository, changed time.Time) bool {
	there, err := objects.PackNames()
	if err != nil {
		return false
	}
	for name, size := range c.names {
		if has, ok := there[name]; !ok || has != size {
			return false
		}
	}
	c.stamp = time.Time{}
	if time.Since(changed) > minStampAge {
		c.stamp = changed
	}
	return true
}

// added notes a pack that was kept. after is Repo.Packs with it; 0: the repository has no row.
func (c *cached) added(name string, size, all, inline, after int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names == nil {
		c.names = map[string]int64{}
	}
	c.names[name] = size
	c.size += all
	c.inline += inline
	if after == c.generation+1 && c.generation > 0 {
		c.generation = after
	}
}

// has reports whether the repository is known to have a pack.
func (c *cached) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.names[name]
	return ok
}

// Package packs keeps the packs of repositories in a depot, so that nodes need no shared disk: a repository's folder on
// a node is a cache.
//
//	packs.go  the type, and what this process knows of each cached folder
//	keep.go   adding a pack, and letting one replace others
//	load.go   bringing a folder up to date
//	fetch.go  getting one pack from where it is
//	cache.go  which folders stay on this disk
//	share.go  forks, and folders that go
//	sweep.go  what nobody names any longer
//	move.go   repositories between the data folder and a depot, packs between depots
//	verify.go comparing rows with what lies in depots
//	bundle.go bundles, which clients download from a depot: making and removing them; offer.go: who is given one
//	metrics.go  what the cache does
//	store.go  the SQL; bundlestore.go: of bundles
//
// A pack is an immutable file: one object of the depot, or, up to 64 KiB, bytes in its row. So a small push needs the
// database alone. It is kept before it comes into the folder, and before the transaction that moves a ref to what is in
// it: as a synced file is where the folder itself keeps packs. No pack is in a folder that was not committed, so what
// is found there may be relied on.
//
// Repo.Packs grows with each change of a repository's packs, and every request reads it with the repository. A folder
// that was brought up to that number holds everything that was acknowledged before: then opening it costs one stat,
// and no statement. That stat also finds a folder from which somebody removed files.
//
// A repository whose Repo.Packs is 0 is kept by the data folder, as without a depot. Both kinds may be in one store.
//
// What becomes of a pack in a depot:
//
//	repository hidden, archived, renamed   it stays; each request is checked before the folder is opened
//	  or transferred; membership lost;
//	  account suspended
//	repository forked                      the fork names the same file, or copies of what it may see
//	repository deleted                     its rows go with its folder, the file once no fork names it, after graceTime
//	objects purged                         the files of the old folder go at once, unless a fork names them
//	packs consolidated                     the file goes after graceTime
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

// graceTime is how long a file that nobody names stays in its depot. A database that is restored to an earlier time
// finds its packs during it.
const graceTime = 7 * 24 * time.Hour

// Service keeps packs. It implements repo.Packs.
type Service struct {
	// Size is how many bytes the cached folders may take together; 0: as many as there are. Set before Run.
	Size int64
	// BundleSize is how many bytes a repository's packs must have for a bundle; 0: none has one. Set before Run.
	BundleSize int64

	db    *db.DB
	git   *git.Git
	log   *slog.Logger
	repos *repo.Service
	files *file.Store

	counters counters
	tidied   atomic.Int64 // rounds

	mu     sync.Mutex
	keeps  *bool // whether new repositories are kept in a depot, once it was asked
	cached map[repo.Folder]*cached
	led    map[repo.ID]led

	leading keyed.Mutex[repo.ID] // held while led is found out
}

// New returns the service.
func New(d *db.DB, g *git.Git, log *slog.Logger, repos *repo.Service, files *file.Store) *Service {
	return &Service{db: d, git: g, log: log, repos: repos, files: files,
		counters: newCounters(), cached: map[repo.Folder]*cached{}, led: map[repo.ID]led{}}
}

// Keeps reports whether packs of new repositories go to a depot. It is the same for as long as this process runs.
func (s *Service) Keeps(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeps == nil {
		id, _, err := s.files.Place(ctx)
		if err != nil {
			return false, err
		}
		keeps := id != 0
		s.keeps = &keeps
	}
	return *s.keeps, nil
}

// cached is what this process knows of a folder that is a cache.
type cached struct {
	folder repo.Folder
	turn   chan struct{} // held by the one that brings the folder up to date

	mu         sync.Mutex
	generation int64            // of Repo.Packs up to which the folder is complete; 0: unknown
	names      map[string]int64 // the packs that it must have, with the sizes of their files
	stamp      time.Time        // modification time of objects/pack when it was complete; zero: look again
	size       int64            // bytes of its packs, about
	inline     int64            // bytes of the repository's packs in the database, about
	used       time.Time        // when it was last opened
	replaced   map[string]time.Time
}

// of returns what is known of a folder.
func (s *Service) of(f repo.Folder) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cached[f]
	if c == nil {
		c = &cached{folder: f, turn: make(chan struct{}, 1)}
		s.cached[f] = c
	}
	return c
}

// settle is how old the modification time of a directory must be before it is relied on: clocks of file systems are
// coarse.
const settle = 100 * time.Millisecond

// isCurrent reports whether the folder is complete at a generation; 0: at whichever it is.
func (c *cached) isCurrent(generation int64, objects *git.Repository) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
	// It is lower than what this process knows after the database went back to an earlier state.
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
	return c.look(objects, info.ModTime())
}

// look compares the folder with what it must have.
func (c *cached) look(objects *git.Repository, changed time.Time) bool {
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
	if time.Since(changed) > settle {
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

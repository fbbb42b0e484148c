package packs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Times of the cache's upkeep.
const (
	tidyEvery = time.Minute
	// asideAfter is how long a pack that others replace stays in its folder.
	asideAfter = time.Minute
)

// Run keeps the cached folders in order until ctx is done. It returns nil: failures are logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	return db.Upkeep(ctx, s.log, tidyEvery, "the cache of packs was not tidied", s.Tidy)
}

// scanEvery is how many rounds of tidying pass until the disk is looked at: commands bring folders, too.
const scanEvery = 10

// Tidy removes folders that no repository has, and others until the rest fits; and packs that were replaced.
func (s *Service) Tidy(ctx context.Context) error {
	if s.tidied.Add(1)%scanEvery == 0 {
		if err := s.scan(ctx, true); err != nil {
			return err
		}
	}
	err := s.evictGone(ctx)
	_, evictErr := s.evictTo(ctx, s.Size)
	return errors.Join(err, evictErr, s.setAside(ctx))
}

// evictGone removes the folders that no repository has any longer: it was deleted or purged, by whichever node.
func (s *Service) evictGone(ctx context.Context) error {
	list, _ := s.bySize()
	return db.InParts(list, func(part []sized) error {
		folders := make([]repo.Folder, len(part))
		for n, c := range part {
			folders[n] = c.folder
		}
		kept, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]repo.Folder, error) { return cachedFolders(tx, folders) })
		for _, c := range part {
			if err == nil && !slices.Contains(kept, c.folder) {
				_, err = s.evict(c.cached)
			}
		}
		return err
	})
}

// BootFile names the file that holds the id of the machine's start in which the cache was written. Nothing in the
// cache is synced: after a power failure its files may have lost bytes.
const BootFile = "cache-boot"

// bootID is where Linux says which start of the machine this is.
const bootID = "/proc/sys/kernel/random/boot_id"

// Start finds out what the cache holds, and empties it if the machine was restarted since it was written. It is called
// before requests are served.
func (s *Service) Start(ctx context.Context) error {
	used, err := s.isUsed(ctx)
	if err != nil || !used {
		return err
	}
	now, err := os.ReadFile(bootID)
	if err != nil {
		now = nil // not Linux: the cache is never known to be of this start
	}
	path := filepath.Join(s.repos.Dir(), BootFile)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	same := len(now) > 0 && bytes.Equal(now, before)
	if err := s.scan(ctx, same); err != nil || same {
		return err
	}
	if err := durable.MakeDir(s.repos.Dir()); err != nil {
		return err
	}
	return durable.Replace(path, func(f *os.File) error {
		_, err := f.Write(now)
		return err
	})
}

// isUsed reports whether a repository's packs lie in a depot, or will.
func (s *Service) isUsed(ctx context.Context) (used bool, err error) {
	if used, err = s.UsesDepot(ctx); used || err != nil {
		return used, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM repos WHERE packs > 0)`).Scan(&used)
	})
	return used, err
}

// scan registers the cached folders on the disk, or removes them if they cannot be relied on.
func (s *Service) scan(ctx context.Context, rely bool) error {
	var folders []repo.Folder
	for shard := range int64(repo.Shards) {
		dir := s.repos.Shard(shard)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if f, ok := repo.ParseFolder(e.Name()); ok {
				folders = append(folders, f)
			} else if git.IsEvicted(e.Name()) {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return db.InParts(folders, func(part []repo.Folder) error {
		kept, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]repo.Folder, error) { return cachedFolders(tx, part) })
		if err == nil {
			err = s.dropFormer(ctx, part)
		}
		for _, f := range kept {
			if err != nil {
				break
			}
			if !rely {
				_, err = s.evict(s.cacheOf(f))
				continue
			}
			err = s.register(f)
		}
		return err
	})
}

// dropFormer removes folders that repositories had which are kept in a depot now: before a purge, while this node was
// away.
func (s *Service) dropFormer(ctx context.Context, list []repo.Folder) error {
	var former []repo.Folder
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		backup, err := repo.BackupRuns(tx)
		if former = nil; err == nil && !backup {
			former, err = oldFoldersIn(tx, list)
		}
		return err
	})
	for _, f := range former {
		if err == nil {
			_, err = s.evict(s.cacheOf(f))
		}
	}
	return err
}

// register notes a cached folder that this process has not opened yet.
func (s *Service) register(f repo.Folder) error {
	objects := s.git.Repository(s.repos.Path(f.ID, f.Purges))
	there, err := objects.PackNames()
	info, statErr := os.Stat(objects.PacksDir())
	if err != nil || statErr != nil {
		return err
	}
	c := s.cacheOf(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation > 0 || c.size > 0 { // it is known
		return nil
	}
	for _, size := range there {
		c.size += size
	}
	c.used = info.ModTime()
	return nil
}

// evict removes the folder, unless it is in use.
func (s *Service) evict(c *cached) (done bool, err error) {
	remove, done, err := s.git.Evict(s.repos.Path(c.folder.ID, c.folder.Purges))
	if err != nil || !done {
		return false, err
	}
	s.mu.Lock()
	if s.cached[c.folder] == c {
		delete(s.cached, c.folder)
	}
	s.mu.Unlock()
	s.counters.evicted.Inc()
	return true, remove()
}

// evictTo removes the folders that were not used for longest until the others take at most so many bytes; 0: all may
// stay. It reports whether there was one that was not in use.
func (s *Service) evictTo(ctx context.Context, most int64) (evicted bool, err error) {
	if most <= 0 {
		return false, nil
	}
	list, total := s.bySize()
	for _, c := range list {
		if total <= most || ctx.Err() != nil {
			break
		}
		done, err := s.evict(c.cached)
		if err != nil {
			return evicted, err
		}
		if done {
			evicted = true
			total -= c.size
		}
	}
	return evicted, nil
}

// sized is a cached folder with what it takes.
type sized struct {
	*cached
	size int64
	used time.Time
}

// bySize lists the cached folders, those that were not used for longest first.
func (s *Service) bySize() (list []sized, total int64) {
	s.mu.Lock()
	for _, c := range s.cached {
		list = append(list, sized{cached: c})
	}
	s.mu.Unlock()
	for n := range list {
		c := &list[n]
		c.mu.Lock()
		c.size, c.used = c.cached.size, c.cached.used
		c.mu.Unlock()
		total += c.size
	}
	slices.SortFunc(list, func(a, b sized) int { return a.used.Compare(b.used) })
	return list, total
}

// setAside takes packs out of folders that other packs replace.
func (s *Service) setAside(ctx context.Context) error {
	list, _ := s.bySize()
	var now db.Time
	var all error
	for _, c := range list {
		c.mu.Lock()
		var due []string
		for name, at := range c.replaced {
			if time.Since(at) > asideAfter {
				due = append(due, name)
			}
		}
		c.mu.Unlock()
		if len(due) == 0 {
			continue
		}
		if now == 0 {
			err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
				now, err = tx.Clock()
				return err
			})
			if err != nil {
				return err
			}
		}
		all = errors.Join(all, s.setAsideIn(ctx, c.cached, now, due))
	}
	return all
}

func (s *Service) setAsideIn(ctx context.Context, c *cached, now db.Time, due []string) error {
	objects, release, err := s.git.Open(ctx, s.repos.Path(c.folder.ID, c.folder.Purges))
	if err != nil {
		return err
	}
	defer release()
	select {
	case c.updating <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.updating }()
	c.mu.Lock()
	due = slices.DeleteFunc(due, func(name string) bool { // it came back
		_, listed := c.names[name]
		return listed
	})
	for _, name := range due {
		delete(c.replaced, name)
	}
	c.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	return errors.Join(objects.SetAsidePacks(now.Time(), due), objects.SweepReplaced(now.Time(), keptAside))
}

// keptAside is how long packs that were set aside stay for processes of git that have them open.
const keptAside = 3 * time.Hour

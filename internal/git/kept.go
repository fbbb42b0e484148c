package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"arbor/internal/durable"
	"arbor/internal/git/packfile"
)

// A Keeper keeps the packs of one repository beyond this disk. The repository's folder is a cache then: what comes
// into it is kept first, and nothing in it is synced.
type Keeper interface {
	// Add keeps a pack, durably and for all nodes, before its files are moved into the folder. A pack whose name is
	// kept already is fine.
	Add(ctx context.Context, p packfile.Files) error
	// Replace stops keeping packs, by their names, whose objects are all in the pack into. It reads that one back
	// before. Error: if one of them is not kept any more, and then nothing has changed.
	Replace(ctx context.Context, names []string, into string) error
	// Refresh brings the folder up to date with what was kept before the call.
	Refresh(ctx context.Context) error
	// HasPacks reports whether packs are known to be kept.
	HasPacks() bool
	// Has reports whether a pack of a name is known to be kept.
	Has(name string) bool
}

// Keep says who keeps the packs of a repository, which is open.
func (r *Repository) Keep(k Keeper) {
	r.git.mu.Lock()
	defer r.git.mu.Unlock()
	r.git.stateLocked(r.dir).keep = k
}

// keeper returns who keeps the packs of the repository in a folder; nil: the folder itself.
func (g *Git) keeper(dir string) Keeper {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.states[dir]; s != nil {
		return s.keep
	}
	return nil
}

func (r *Repository) keeper() Keeper { return r.git.keeper(r.dir) }

// IsKept reports whether a Keeper keeps the repository's packs.
func (r *Repository) IsKept() bool { return r.keeper() != nil }

// Refresh brings the folder of a kept repository up to date, if somebody added packs on another node, or removed files
// here, since it was opened. isKept reports that it is one.
func (r *Repository) Refresh(ctx context.Context) (isKept bool, err error) {
	for _, each := range slices.Concat(r.joins, []*Repository{r}) {
		if k := each.keeper(); k != nil {
			isKept, err = true, errors.Join(err, k.Refresh(ctx))
		}
	}
	return isKept, err
}

// MoveIn makes a pack durable and moves its files into the repository, the index last: git finds a pack by it.
func (r *Repository) MoveIn(ctx context.Context, p packfile.Files) error {
	if k := r.keeper(); k != nil {
		if err := k.Add(ctx, p); err != nil {
			return err
		}
		return r.Place(p)
	}
	for _, part := range p.Parts() {
		if err := durable.Sync(part.Path); err != nil {
			return err
		}
	}
	if err := r.Place(p); err != nil {
		return err
	}
	return durable.Sync(r.path("objects", "pack"))
}

// Place moves the files of a pack into the repository without syncing them.
func (r *Repository) Place(p packfile.Files) error {
	for _, part := range p.Parts() {
		if err := os.Rename(part.Path, r.path("objects", "pack", p.Name+part.Extension)); err != nil {
			return err
		}
	}
	return nil
}

// sync makes a folder durable, unless it is a cache.
func (r *Repository) sync(dir string) error {
	if r.keeper() != nil {
		return nil
	}
	return durable.Sync(dir)
}

// PackNames lists the packs in the folder by their names, with the sizes of their .pack files.
func (r *Repository) PackNames() (map[string]int64, error) {
	entries, err := os.ReadDir(r.path("objects", "pack"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	packs, whole := map[string]int64{}, map[string]bool{}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".idx"); ok {
			whole[name] = true
		}
		if name, ok := strings.CutSuffix(e.Name(), ".pack"); ok {
			if info, err := e.Info(); err == nil {
				packs[name] = info.Size()
			}
		}
	}
	for name := range packs {
		if !whole[name] {
			delete(packs, name)
		}
	}
	return packs, nil
}

// PackFiles returns the files of a pack in the folder.
func (r *Repository) PackFiles(name string) packfile.Files {
	return packfile.FilesAt(r.path("objects", "pack", name), name)
}

// SetAsidePacks sets aside packs whose objects are all in others. now is the time by the database's clock. Processes
// of git that have the packs open read on.
func (r *Repository) SetAsidePacks(now time.Time, names []string) error {
	s := r.git.state(r.dir)
	s.packMu.Lock()
	defer s.packMu.Unlock()
	dir, err := r.replacedDir(now)
	if err != nil {
		return err
	}
	s.removals.Add(1)
	defer s.removals.Add(1)
	for _, name := range names {
		err = errors.Join(err, r.setAsidePack(name, dir))
	}
	r.git.pool.Retire(r.dir)
	return err
}

// Evict takes the folder of a kept repository away, unless somebody uses it: it is renamed at once, and removed by
// the time remove returns. ok is false, and remove nil, if it is in use.
func (g *Git) Evict(dir string) (remove func() error, ok bool, err error) {
	dir = g.Repository(dir).dir
	name := fmt.Sprintf("%s%d-%s", evictedPrefix, time.Now().UnixNano(), filepath.Base(dir))
	gone := filepath.Join(filepath.Dir(dir), name)
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stateLocked(dir)
	if s.pins > 0 || s.remove != nil {
		return nil, false, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, "config"), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // an incomplete one, or none
	case err != nil:
		return nil, false, err
	default:
		defer f.Close()
		if unused, err := tryUnused(f); err != nil || !unused {
			return nil, false, err
		}
	}
	if err := os.Rename(dir, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	g.pool.Retire(dir)
	delete(g.states, dir)
	return func() error { return os.RemoveAll(gone) }, true, nil
}

// evictedPrefix begins the names of folders that Evict removes.
const evictedPrefix = "evicted-"

// IsEvicted reports whether a folder's name is that of one that Evict removes.
func IsEvicted(name string) bool { return strings.HasPrefix(name, evictedPrefix) }

// PacksDir is the path of the folder that the packs are in.
func (r *Repository) PacksDir() string { return r.path("objects", "pack") }

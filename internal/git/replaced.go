package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"arbor/internal/git/packfile"
)

// A pack is replaced by one that holds all of its objects and was read back from
// where it is. It then stays for Options.PackGrace: a process of git that reads
// the directory just now may have missed the new one. After that it is set aside,
// into a directory below objects/ that git does not read, and is removed hours
// later: until then processes that have it open, on whichever node, read on.
//
// A pack may replace another one only if it comes later in a fixed order: by the number
// of objects, then by name. So two packs with the same objects never both go because
// each is a copy of the other: the later one stays. This holds for several nodes at one
// time, even if one of them was suspended in between.

// replacedPrefix begins the names of directories below objects/ with files that
// were replaced. What follows is the time, in microseconds of the database's clock.
const replacedPrefix = "replaced-"

// replacedPacks are the packs of a repository that wait to be set aside. They are kept in
// memory only: after a restart they are packed again.
type replacedPacks struct {
	mu   sync.Mutex
	gone map[string]replacedPack
}

// replacedPack is a pack whose objects are all in another one.
type replacedPack struct {
	name, into string
	at         time.Time
}

// has reports a pack that waits to be set aside.
func (s *replacedPacks) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.gone[name]
	return ok
}

// add notes a pack that is to be set aside.
func (s *replacedPacks) add(name, into string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = map[string]replacedPack{}
	}
	s.gone[name] = replacedPack{name, into, time.Now()}
}

// waiting is how many packs are to be set aside, and whether one has waited long
// enough.
func (s *replacedPacks) waiting(grace time.Duration) (n int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.gone {
		due = due || time.Since(p.at) >= grace
	}
	return len(s.gone), due
}

// take takes the packs that have waited long enough, the first replaced first.
func (s *replacedPacks) take(grace time.Duration) []replacedPack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []replacedPack
	for name, p := range s.gone {
		if time.Since(p.at) >= grace {
			due = append(due, p)
			delete(s.gone, name)
		}
	}
	slices.SortFunc(due, func(a, b replacedPack) int { return a.at.Compare(b.at) })
	return due
}

// replace notes that the new pack into replaces others. If one of these has the same
// objects and comes later in the order, that one stays instead. check reads the pack
// that stays back before.
func (r *Repository) replace(chosen []packFile, into string, check func(name string) error) error {
	keeper, err := r.lastOf(chosen, into)
	if err != nil {
		return err
	}
	if err := check(keeper); err != nil {
		return err
	}
	replaced := &r.git.state(r.dir).replaced
	for _, p := range append(chosen[:len(chosen):len(chosen)], packFile{name: into}) {
		if p.name != keeper {
			replaced.add(p.name, keeper)
		}
	}
	return nil
}

// lastOf is the pack that stays: the last in the order among the chosen ones and the one
// that was made of them.
func (r *Repository) lastOf(chosen []packFile, made string) (string, error) {
	last, most := made, 0
	for _, p := range append(chosen[:len(chosen):len(chosen)], packFile{name: made}) {
		x, err := packfile.OpenIndex(r.path("objects", "pack", p.name+".idx"))
		if err != nil {
			return "", err
		}
		n := x.Count()
		if err := x.Close(); err != nil {
			return "", err
		}
		if n > most || n == most && p.name > last {
			last, most = p.name, n
		}
	}
	return last, nil
}

// setAsideReplaced sets aside the packs that have waited long enough. now is the
// time by the database's clock. The caller holds packMu.
func (r *Repository) setAsideReplaced(ctx context.Context, now time.Time) error {
	s := r.git.state(r.dir)
	due := s.replaced.take(r.git.options.PackGrace)
	if len(due) == 0 {
		return nil
	}
	dir, err := r.replacedDir(now)
	if err != nil {
		return err
	}
	s.removals.Add(1)
	defer s.removals.Add(1)
	for len(due) > 0 {
		into := due[0].into
		n := slices.IndexFunc(due, func(p replacedPack) bool { return p.into != into })
		if n < 0 {
			n = len(due)
		}
		if err := r.setAsideInto(ctx, due[:n], dir); err != nil {
			return err
		}
		due = due[n:]
	}
	if s.setAside >= retireAfter {
		s.setAside = 0
		r.git.pool.Retire(r.dir)
	}
	return nil
}

// setAsideInto moves packs that one other pack replaces into a directory.
func (r *Repository) setAsideInto(ctx context.Context, list []replacedPack, dir string) error {
	var names []string
	for _, p := range list {
		if err := r.checkReplaced(p); err != nil {
			r.git.log.WarnContext(ctx, "a pack that should have been replaced stays",
				"directory", r.dir, "pack", p.name, "error", err)
			continue
		}
		names = append(names, p.name)
	}
	if k := r.keeper(); k != nil && len(names) > 0 {
		if err := k.Replace(ctx, names, list[0].into); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := r.setAsidePack(name, dir); err != nil {
			return err
		}
		r.git.state(r.dir).setAside++
	}
	return nil
}

// retireAfter is how many packs are set aside before readers are restarted.
const retireAfter = 256

// checkReplaced checks that the other pack is there, holds all of this one,
// and comes later in the order.
func (r *Repository) checkReplaced(p replacedPack) error {
	x, err := packfile.OpenIndex(r.path("objects", "pack", p.name+".idx"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone already
	}
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := packfile.OpenIndex(r.path("objects", "pack", p.into+".idx"))
	if err != nil {
		return err
	}
	defer y.Close()
	if _, err := os.Stat(r.path("objects", "pack", p.into+".pack")); err != nil {
		return err
	}
	if y.Count() < x.Count() || y.Count() == x.Count() && p.into <= p.name {
		return fmt.Errorf("git: %s does not come after %s", p.into, p.name)
	}
	if ok, err := y.HoldsAll(x); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("git: %s does not hold all of %s", p.into, p.name))
	}
	return nil
}

// setAsidePack moves the files of a pack, which may be gone, into a directory. The index goes first: git finds a
// pack by it.
func (r *Repository) setAsidePack(name, dir string) error {
	for _, ext := range []string{".idx", ".rev", ".bitmap", ".pack"} {
		if err := setAside(r.path("objects", "pack", name+ext), dir); err != nil {
			return err
		}
	}
	return nil
}

// replacedDir creates the directory for files that are set aside now.
func (r *Repository) replacedDir(now time.Time) (string, error) {
	dir := r.path("objects", replacedPrefix+strconv.FormatInt(now.UnixMicro(), 10))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// setAside moves a file, which may be gone, into a directory.
func setAside(path, dir string) error {
	err := os.Rename(path, filepath.Join(dir, filepath.Base(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SweepReplaced removes the files that were set aside longer than age before now, both
// by the database's clock. The age must be longer than any process of git lives.
func (r *Repository) SweepReplaced(now time.Time, age time.Duration) error {
	entries, err := os.ReadDir(r.path("objects"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var all error
	for _, e := range entries {
		at, ok := strings.CutPrefix(e.Name(), replacedPrefix)
		if !ok {
			continue
		}
		if t, err := strconv.ParseInt(at, 10, 64); err == nil && now.Sub(time.UnixMicro(t)) >= age {
			all = errors.Join(all, os.RemoveAll(r.path("objects", e.Name())))
		}
	}
	return all
}

package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/durable"
	"arbor/internal/git/packfile"
)

// SweepQuarantines removes what killed servers left behind: directories of
// pushes and of maintenance in which nothing was written for olderThan, which
// must be longer than any push takes.
func (r *Repository) SweepQuarantines(olderThan time.Duration) error {
	entries, err := os.ReadDir(r.path("objects"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	before, err := durable.Clock(r.path("objects"))
	if err != nil {
		return err
	}
	before = before.Add(-olderThan)
	all := r.sweepTemporary(before)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), incomingPrefix) || strings.HasPrefix(e.Name(), packingPrefix) {
			all = errors.Join(all, removeOld(r.path("objects", e.Name()), before))
		}
	}
	return all
}

// SweepMirrors removes copies for imports below parent that killed processes left:
// in which nothing was written for olderThan.
func SweepMirrors(parent string, olderThan time.Duration) error {
	left, err := filepath.Glob(filepath.Join(parent, mirrorPrefix+"*"))
	if err != nil || len(left) == 0 {
		return err
	}
	now, err := durable.Clock(parent)
	if err != nil {
		return err
	}
	var all error
	for _, dir := range left {
		all = errors.Join(all, removeOld(dir, now.Add(-olderThan)))
	}
	return all
}

// Untouched reports whether no file came into the repository's directory for some
// time.
func (r *Repository) Untouched(age time.Duration) (bool, error) {
	now, err := durable.Clock(filepath.Dir(r.dir))
	if err != nil {
		return false, err
	}
	for _, path := range []string{r.dir, r.path("objects"), r.path("objects", "pack")} {
		info, err := os.Stat(path)
		if err == nil && info.ModTime().After(now.Add(-age)) {
			return false, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return true, nil
}

// removeOld removes a directory in which nothing was written since before.
func removeOld(dir string, before time.Time) error {
	if newest(dir).Before(before) {
		return os.RemoveAll(dir)
	}
	return nil
}

// newest is when something below dir was last written.
func newest(dir string) time.Time {
	var last time.Time
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // already removed
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last
}

// sweepTemporary removes files of packs that a killed server was writing.
func (r *Repository) sweepTemporary(before time.Time) error {
	left, err := filepath.Glob(r.path("objects", "pack", packfile.TmpPack+"*"))
	if err != nil {
		return err
	}
	var all error
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(before) {
			all = errors.Join(all, os.Remove(path))
		}
	}
	return all
}

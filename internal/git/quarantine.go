package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
	"arbor/internal/git/tree"
)

// The names of directories below objects/ that hold what is not kept yet.
const (
	incomingPrefix = "incoming-" // a push
	packingPrefix  = "packing-"  // maintenance
)

// Quarantine holds the objects of a push that is not accepted yet: nobody else
// sees them. Its owner calls Keep or not, and Discard always.
type Quarantine struct {
	repository *Repository
	dir        string // objects/incoming-XXXX; empty when nothing was sent
	pack       string // "pack-XXXX", the files' name without extension
	sent       int    // objects that the pack had when it came
	objects    map[SHA]received
}

// received is what a new tip is, and what it peels to.
type received struct{ object, peeled Object }

// newQuarantine makes the directory of a push, or of maintenance.
func (r *Repository) newQuarantine(prefix string) (*Quarantine, error) {
	dir, err := os.MkdirTemp(r.path("objects"), prefix)
	if err != nil {
		return nil, err
	}
	q := &Quarantine{repository: r, dir: dir}
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		return nil, errors.Join(err, q.Discard())
	}
	return q, nil
}

// env makes git write into the quarantine and read the repository too.
func (q *Quarantine) env() []string { return q.envOver(q.repository) }

// envOver is env with another repository to read.
func (q *Quarantine) envOver(r *Repository) []string {
	if q.dir == "" {
		return nil
	}
	objects := r.path("objects")
	if strings.ContainsAny(objects, ":\"\\\n") {
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(objects) + `"`
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects,
		"GIT_QUARANTINE_PATH=" + q.dir}
}

// Peeled says what a new tip of the push is, and what a tag finally names
// (the same object twice when it is no tag). NotFound for other objects.
func (q *Quarantine) Peeled(sha SHA) (object, peeled Object, err error) {
	r, ok := q.objects[sha]
	if !ok {
		return Object{}, Object{}, missing(string(sha))
	}
	return r.object, r.peeled, nil
}

// Keep makes the objects part of the repository, durably. After an error the
// repository may hold them, which is harmless, or not.
func (q *Quarantine) Keep() error {
	if q.dir == "" || q.pack == "" {
		return nil
	}
	if err := keepPack(filepath.Join(q.dir, "pack", q.pack), q.repository.path("objects", "pack", q.pack)); err != nil {
		return err
	}
	q.pack = ""
	return q.Discard()
}

// keepPack moves the files of a pack, given without extension. They are synced
// first, and .idx comes last: git finds a pack by it.
func keepPack(from, to string) error {
	extensions := []string{".pack", ".rev", ".idx"}
	for _, ext := range extensions {
		if err := syncPath(from + ext); err != nil && (ext != ".rev" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	for _, ext := range extensions {
		if err := os.Rename(from+ext, to+ext); err != nil && (ext != ".rev" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return syncDir(filepath.Dir(to))
}

// Discard drops what was not kept. It may be called at any time, repeatedly.
func (q *Quarantine) Discard() error {
	if q.dir == "" {
		return nil
	}
	return os.RemoveAll(q.dir)
}

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
	before, err := fileTime(r.path("objects"))
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
	now, err := fileTime(parent)
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
	now, err := fileTime(filepath.Dir(r.dir))
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

// fileTime is the time by the clock of the file system that dir is on, which gives
// files their times and may be another machine's.
func fileTime(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".tmp-clock-")
	if err != nil {
		return time.Time{}, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
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
			return nil // gone meanwhile
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last
}

// identify looks up the new tips, and counts the paths of all new trees and of the tips'
// trees. One process, which sees the quarantine, reads all of them. Error: Invalid for a
// tip that is not whole, or trees over the bounds.
func (q *Quarantine) identify(ctx context.Context, tips []SHA, trees []packfile.Tree) (err error) {
	g := q.repository.git
	in := g.walkCage(q.load())
	for _, t := range trees {
		in.Memory = max(in.Memory, g.part(walkPart, 4*t.Size))
	}
	c, err := g.startCatFile(ctx, process.Task{
		Dir: q.repository.dir, Env: q.env(), Cage: in, Limit: g.options.TransferTimeout})
	if err != nil {
		return err
	}
	defer func() {
		var dirty errDirty
		if !errors.As(err, &dirty) {
			c.end()
			return
		}
		if ended := c.verdict(); ended != nil {
			err = ended
		}
	}()
	if err := q.readTips(c, tips); err != nil {
		return err
	}
	if len(trees) == 0 {
		return nil
	}
	p := tree.NewCounter(c.readTree, g.counts)
	for len(trees) > 0 {
		var ahead map[ID][]byte
		if ahead, trees, err = c.readAhead(trees); err != nil {
			return err
		}
		p.Read = func(id ID) ([]byte, error) {
			if contents, ok := ahead[id]; ok {
				return contents, nil
			}
			return c.readTree(id)
		}
		for id := range ahead {
			if err := p.Check(id); err != nil {
				return err
			}
		}
	}
	for _, sha := range tips {
		if err := c.checkTip(p, q.objects[sha].peeled); err != nil {
			return err
		}
	}
	return nil
}

// readTips asks what the tips are.
func (q *Quarantine) readTips(c *catFile, tips []SHA) error {
	q.objects = make(map[SHA]received, len(tips))
	err := c.infos(2*len(tips), func(i int) SHA {
		if i%2 == 0 {
			return tips[i/2]
		}
		return tips[i/2] + "^{}"
	}, func(i int, o Object) {
		r := q.objects[tips[i/2]]
		if i%2 == 0 {
			r.object = o
		} else {
			r.peeled = o
		}
		q.objects[tips[i/2]] = r
	})
	if errs.Is(err, errs.NotFound) {
		return errDisconnected(err)
	}
	return err
}

// load is the load of a process of the push: the repository and the pack.
func (q *Quarantine) load() load {
	l := q.repository.load()
	l.objects += int64(q.sent)
	return l
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

package diff

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/object"
	"arbor/internal/git/tree"
)

// Bounds of a comparison. git queues all changes before it prints a line, so it is
// asked only for comparisons that are known to be small: fifteen trees may hold 10^10
// paths.
const (
	maxChanged     = 50_000    // files
	maxChangedPath = 16 << 20  // bytes of their paths
	maxComparing   = 20_000    // trees read
	maxTreesHeld   = 64 << 20  // bytes of trees at one time
	maxTreesRead   = 256 << 20 // and in all

	maxRenames     = 2000     // files added and deleted that are compared with each other
	maxRenamed     = 4 << 20  // bytes of the largest of them
	maxRenamedSum  = 64 << 20 // and of all
	exactRenames   = "--find-renames=100%"
	similarRenames = "--find-renames"
)

// treeDiff is what differs between two trees, found without a process.
type treeDiff struct {
	total  int       // files that changed, as far as they were looked at
	whole  bool      // that is all of them
	files  []File    // the first MaxFiles, without counts and patches
	added  []git.SHA // of files, as far as they are few
	gone   []git.SHA
	counts [2]int // of files added and gone

	blobs   []git.SHA       // both versions of all files, in any order
	folders map[uint64]bool // hashes of the paths of folders that only one tree has

	paths, trees, read, held int
}

// errMany ends the comparison of trees where one of the bounds is reached.
var errMany = errors.New("git: more changes than are looked at")

// compareTrees lists the differences of two trees, or of the trees of two commits, in
// git's order. It reads only sub-trees that differ, and stops at the bounds.
func compareTrees(ctx context.Context, r *git.Repository, from, to git.SHA) (*treeDiff, error) {
	return compareFrom(ctx, r, from, to, 0)
}

// compareFrom is compareTrees after so many trees were read for others.
func compareFrom(ctx context.Context, r *git.Repository, from, to git.SHA, read int) (*treeDiff, error) {
	if err := errors.Join(from.Check(), to.Check()); err != nil {
		return nil, err
	}
	d := &treeDiff{whole: true, trees: read}
	var sides [2]git.SHA
	for i, sha := range [...]git.SHA{from, to} {
		if sha == git.EmptyTree {
			continue
		}
		tree, err := r.PeelToTree(ctx, sha)
		if err != nil {
			return nil, err
		}
		sides[i] = tree
	}
	if sides[0] == sides[1] {
		return d, nil
	}
	err := d.compare(ctx, r, sides[0], sides[1], nil, 0)
	if errors.Is(err, errMany) {
		d.whole, err = false, nil
	}
	return d, err
}

// contents reads a tree; "" has no entries.
func (d *treeDiff) contents(ctx context.Context, r *git.Repository, tree git.SHA) ([]byte, error) {
	if tree == "" || tree == git.EmptyTree {
		return nil, nil
	}
	limit := min(git.MaxTreeBytes, maxTreesHeld-d.held, maxTreesRead-d.read)
	if d.trees++; d.trees > maxComparing || limit <= 0 {
		return nil, errMany
	}
	b, err := r.TreeContents(ctx, tree, int64(limit))
	if errs.Is(err, errs.TooLarge) {
		err = errMany
	}
	d.read += len(b)
	return b, err
}

// compare compares two trees below a path, which ends with a slash.
func (d *treeDiff) compare(
	ctx context.Context, r *git.Repository, from, to git.SHA, path []byte, depth int,
) error {
	if depth > object.MaxTreeDepth {
		return errMany
	}
	var sides [2]tree.Cursor
	for i, tree := range [...]git.SHA{from, to} {
		b, err := d.contents(ctx, r, tree)
		if err != nil {
			return err
		}
		d.held += len(b)
		defer func() { d.held -= len(b) }()
		sides[i].Rest = b
		if err := sides[i].Next(); err != nil {
			return errMany // out of order: nobody can compare these
		}
	}
	for sides[0].At || sides[1].At {
		var old, now *object.Entry
		order := 0
		if sides[0].At && sides[1].At {
			order = object.CompareEntries(sides[0].Entry, sides[1].Entry)
		}
		if sides[0].At && (order <= 0 || !sides[1].At) {
			old = &sides[0].Entry
		}
		if sides[1].At && (order >= 0 || !sides[0].At) {
			now = &sides[1].Entry
		}
		if old == nil || now == nil || !old.Is(now) {
			if err := d.entry(ctx, r, old, now, path, depth); err != nil {
				return err
			}
		}
		for i, e := range [...]*object.Entry{old, now} {
			if e == nil {
				continue
			}
			if err := sides[i].Next(); err != nil {
				return errMany
			}
		}
	}
	return nil
}

// entry notes an entry that differs; old or now is nil if there is none.
func (d *treeDiff) entry(
	ctx context.Context, r *git.Repository, old, now *object.Entry, path []byte, depth int,
) error {
	some := now
	if some == nil {
		some = old
	}
	name := append(path[:len(path):len(path)], some.Name...)
	if len(name) > git.MaxPath {
		return errMany
	}
	if some.Mode == git.ModeTree {
		var from, to git.SHA
		if old != nil {
			from = git.SHA(hex.EncodeToString(old.ID))
		}
		if now != nil {
			to = git.SHA(hex.EncodeToString(now.ID))
		}
		if from == "" || to == "" {
			d.noteFolder(name)
		}
		return d.compare(ctx, r, from, to, append(name, '/'), depth+1)
	}
	if d.total == maxChanged || d.paths+len(name) > maxChangedPath {
		return errMany
	}
	d.total++
	d.paths += len(name)
	f := File{Status: 'M', Path: string(name)}
	if old != nil {
		f.OldMode, f.OldSHA = old.Mode, git.SHA(hex.EncodeToString(old.ID))
	}
	if now != nil {
		f.Mode, f.SHA = now.Mode, git.SHA(hex.EncodeToString(now.ID))
	}
	for _, e := range [...]*object.Entry{old, now} {
		if e != nil && e.Mode.Type() == git.TypeBlob {
			d.blobs = append(d.blobs, git.SHA(hex.EncodeToString(e.ID)))
		}
	}
	d.note(&f)
	if len(d.files) < MaxFiles {
		d.files = append(d.files, f)
	}
	return nil
}

// note sets the status of a changed file, and remembers files that may have been renamed.
func (d *treeDiff) note(f *File) {
	const zero git.SHA = "0000000000000000000000000000000000000000"
	list, side, sha := &d.added, 1, f.SHA
	switch {
	case f.OldSHA == "":
		f.Status, f.OldSHA = 'A', zero
	case f.SHA == "":
		f.Status, f.SHA = 'D', zero
		list, side, sha = &d.gone, 0, f.OldSHA
	case f.OldMode.Type() != f.Mode.Type() || (f.OldMode == git.ModeSymlink) != (f.Mode == git.ModeSymlink):
		f.Status = 'T'
		return
	default:
		return
	}
	d.counts[side]++
	isModule := f.OldMode.Type() == git.TypeCommit || f.Mode.Type() == git.TypeCommit
	if len(*list) <= maxRenames && !isModule {
		*list = append(*list, sha)
	}
}

// renames is the option with which git looks for renames. git holds all candidates in
// memory and compares each with each. So similar files are found only where there are
// few and small candidates, elsewhere only files that did not change.
func (d *treeDiff) renames(ctx context.Context, r *git.Repository) (string, error) {
	switch {
	case d.counts[0] == 0 || d.counts[1] == 0:
		return similarRenames, nil // there is nothing to find
	case d.counts[0]+d.counts[1] > maxRenames:
		return exactRenames, nil
	}
	objects, err := r.Infos(ctx, slices.Concat(d.gone, d.added))
	if err != nil {
		return "", err
	}
	sum := int64(0)
	for _, o := range objects {
		if sum += o.Size; o.Size > maxRenamed || sum > maxRenamedSum {
			return exactRenames, nil
		}
	}
	return similarRenames, nil
}

// page returns the files of a page, without counts and patches.
func (d *treeDiff) page(o Options) *Changes {
	c := &Changes{Total: d.total, Cut: true}
	for n := range d.files {
		d.files[n].Unread = d.files[n].OldSHA != d.files[n].SHA
		if o.List && n < MaxFiles {
			c.List = append(c.List, Listed{Path: d.files[n].Path, SHA: newer(d.files[n].OldSHA, d.files[n].SHA)})
		}
	}
	if o.Paths == nil {
		from := min(o.Skip, len(d.files))
		c.Files = d.files[from:min(from+o.Max, len(d.files))]
		return c
	}
	for _, f := range d.files {
		if o.Paths[f.Path] && len(c.Files) < o.Max {
			c.Files = append(c.Files, f)
		}
	}
	return c
}

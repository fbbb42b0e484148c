package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"arbor/internal/backup/tables"
)

// opened is a backup in a folder that is read.
type opened struct {
	dir      string
	manifest *Manifest
}

// openBackup reads the manifest of the backup in a folder, which the caller has locked. Error: ErrDamaged.
func openBackup(dir string) (*opened, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no finished backup", dir)
	} else if err != nil {
		return nil, err
	}
	m, err := parseManifest(text)
	return &opened{dir, m}, err
}

// Verification says how a backup is verified.
type Verification struct {
	// Progress is called when a part begins, and within it with the amount done. It may be nil.
	Progress func(part string, done, all int64)
	// Problem is called with a line for each file that is missing or altered, by one goroutine at a time.
	Problem func(line string)
}

// Verify reads every file of the backup in a folder and compares it with its checksum. It writes nothing.
// Error: that the backup could not be looked at; ErrDamaged for a manifest that is altered.
func Verify(ctx context.Context, dir string, v Verification) (*Manifest, error) {
	lock, err := lockFolder(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no backup found: %w", err)
	} else if err != nil {
		return nil, err
	}
	defer lock.Close()
	o, err := openBackup(dir)
	if err != nil {
		return nil, err
	}
	groups := o.manifest.groups()
	bad, err := o.check(ctx, groups, v)
	if err == nil && !slices.ContainsFunc(bad, func(g *group) bool { return g.Path == tablesPath }) {
		if broken := o.verifyTables(); broken != nil {
			v.Problem(fmt.Sprintf("the rows of the database: %v", broken))
		}
	}
	return o.manifest, err
}

// group is a file of a backup that stands for one or more files of the data folder with the same content.
type group struct {
	File          // the first of them
	more []string // paths of the others
}

// name describes the file in a report: its path in the backup, and its purpose in the store.
func (g *group) name() string {
	name := path.Join(filesDir, g.SHA256[:2], g.SHA256) + " (" + g.Path
	if len(g.more) > 0 {
		name += fmt.Sprintf(" and %d more", len(g.more))
	}
	return name + ")"
}

// groups lists the files of the backup by their digests.
func (m *Manifest) groups() []*group {
	known := make(map[string]*group, len(m.Files)+1)
	list := make([]*group, 0, len(m.Files)+1)
	for _, f := range append([]File{m.Tables}, m.Files...) {
		if g := known[f.SHA256]; g != nil {
			g.more = append(g.more, f.Path)
			continue
		}
		g := &group{File: f}
		known[f.SHA256] = g
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return list
}

// check reads files whole, and gives those that are missing or altered.
func (o *opened) check(ctx context.Context, list []*group, v Verification) (bad []*group, err error) {
	var all int64
	for _, g := range list {
		all += g.Size
	}
	var done atomic.Int64
	if v.Progress != nil {
		v.Progress("verify", 0, all)
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, f := range list {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := o.read(&f.File, io.Discard)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				bad = append(bad, f)
				v.Problem(f.name() + ": " + problemOf(err))
			}
			if v.Progress != nil {
				v.Progress("verify", done.Add(f.Size), all)
			}
			return nil
		})
	}
	return bad, g.Wait()
}

// damage is what is wrong with one file of a backup.
type damage string

// Errors of files in a backup.
const (
	isMissing damage = "it is missing"
	isAltered damage = "it does not match its checksum"
)

// Error says what is wrong.
func (d damage) Error() string { return string(d) }

// problemOf says why a file is bad.
func problemOf(err error) string {
	if d, ok := errors.AsType[damage](err); ok {
		return d.Error()
	}
	return err.Error()
}

// verifyTables checks that the rows of the database can be read.
func (o *opened) verifyTables() error {
	f, err := os.Open(filePath(o.dir, o.manifest.Tables.SHA256))
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := tables.NewReader(f)
	if err != nil {
		return err
	}
	if !slices.Equal(in.Header.Versions, o.manifest.Versions) {
		return fmt.Errorf("%w: the tables are of another version than the manifest", ErrDamaged)
	}
	for {
		if t, err := in.Next(); t == nil || err != nil {
			return err
		}
	}
}

// read copies a file of the backup, and fails if it is not what the manifest says.
func (o *opened) read(f *File, to io.Writer) error {
	in, err := os.Open(filePath(o.dir, f.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, f.Path, isMissing)
	} else if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), in)
	if err == nil && (n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256) {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, f.Path, isAltered)
	}
	return err
}

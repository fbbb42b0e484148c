package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"arbor/internal/durable"
)

const (
	manifestFile = "manifest.json"
	filesDir     = "files"
	temporary    = durable.Temporary
)

// folder is a backup in a folder: a manifest, and the files that it names, each under its
// SHA-256. A file is there once and never changes, so a later backup adds those that are
// new, swaps the manifest, and removes what no manifest names any longer.
type folder struct {
	dir      string
	manifest *Manifest       // that is there; nil: none
	earlier  map[string]File // of it, by path

	mu   sync.Mutex
	held map[string]bool // digests that were looked for and are there
}

// ToFolder writes a backup to a folder, or updates the one that is there. If it
// fails, an earlier backup is as it was, but for files of it that were found bad: see nightly.go.
func ToFolder(ctx context.Context, from Source, dir string) (*Manifest, error) {
	t, lock, err := openTarget(from.Folder, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	v := Verification{Progress: from.Progress, Problem: from.Problem}
	if v.Problem == nil {
		v.Problem = func(string) {}
	}
	if err := t.verifyPart(ctx, v, time.Now()); err != nil {
		return nil, fmt.Errorf("verify the earlier backup in %s: %w", dir, err)
	}
	return (&save{Source: from, to: t}).run(ctx)
}

func openTarget(data, dir string) (*folder, io.Closer, error) {
	if err := apart(data, dir); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	lock, err := lockFolder(dir, true)
	if err != nil {
		return nil, nil, err
	}
	t := &folder{dir: dir, earlier: map[string]File{}, held: map[string]bool{}}
	if err := t.prepare(); err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return t, lock, nil
}

// prepare creates the folders, and reads the manifest that is there.
func (t *folder) prepare() error {
	text, err := os.ReadFile(filepath.Join(t.dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(t.dir)
		for _, e := range entries {
			if e.Name() != filesDir && !strings.HasPrefix(e.Name(), temporary) {
				return fmt.Errorf("%s is not empty and holds no backup: it has a file %s", t.dir, e.Name())
			}
		}
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	} else {
		// What is there cannot be used again if this program does not understand it.
		m, err := parseManifest(text)
		if err != nil {
			return fmt.Errorf("the earlier backup in %s: %w; choose another folder", t.dir, err)
		}
		t.manifest = m
		for _, f := range m.Files {
			t.earlier[f.Path] = f
		}
	}
	if err := os.Chmod(t.dir, 0o700); err != nil {
		return err
	}
	for n := range 256 {
		if err := os.MkdirAll(filepath.Join(t.dir, filesDir, hex.EncodeToString([]byte{byte(n)})),
			0o700); err != nil {
			return err
		}
	}
	return nil
}

// apart checks that the backup is outside the data folder.
func apart(data, dir string) error {
	data, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(data, dir); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("%s is in the data folder: a backup belongs on another disk", dir)
	}
	return nil
}

func filePath(dir, sum string) string { return filepath.Join(dir, filesDir, sum[:2], sum) }

func (t *folder) place() string {
	if abs, err := filepath.Abs(t.dir); err == nil {
		return abs
	}
	return t.dir
}

func (t *folder) spool() string { return filepath.Join(t.dir, filesDir) }

func (t *folder) has(f *File) bool {
	if f.SHA256 != "" {
		return t.holds(f)
	}
	old, ok := t.earlier[f.Path]
	if !ok || old.Size != f.Size || old.Modified != f.Modified || !t.holds(&old) {
		return false
	}
	f.SHA256 = old.SHA256
	return true
}

// holds reports whether the file of a digest is there, as far as its size tells.
func (t *folder) holds(f *File) bool {
	t.mu.Lock()
	known := t.held[f.SHA256]
	t.mu.Unlock()
	if known {
		return true
	}
	info, err := os.Lstat(filePath(t.dir, f.SHA256))
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held[f.SHA256] = true
	return true
}

func (t *folder) put(from io.Reader, f *File) error {
	out, err := os.CreateTemp(t.spool(), temporary)
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(durable.NewWriter(out), sum), from, f.Size); err != nil {
		return err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return t.keep(out, f)
}

func (t *folder) keep(spooled *os.File, f *File) error {
	if t.holds(f) {
		return nil // and the caller removes the copy
	}
	if err := spooled.Sync(); err != nil {
		return err
	}
	return os.Rename(spooled.Name(), filePath(t.dir, f.SHA256))
}

// finish syncs all that was written, and only then replaces the manifest.
func (t *folder) finish(ctx context.Context, m *Manifest) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	for n := range 256 {
		if err := durable.Sync(filepath.Join(t.dir, filesDir,
			hex.EncodeToString([]byte{byte(n)}))); err != nil {
			return err
		}
	}
	if err := durable.Sync(filepath.Join(t.dir, filesDir)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = durable.Replace(filepath.Join(t.dir, manifestFile), func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return t.prune(m)
}

// prune removes what the manifest does not name.
func (t *folder) prune(m *Manifest) error {
	named := map[string]bool{m.Tables.SHA256: true}
	for _, f := range m.Files {
		named[f.SHA256] = true
	}
	return filepath.WalkDir(filepath.Join(t.dir, filesDir),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || named[d.Name()] {
				return err
			}
			return os.Remove(path)
		})
}

// lockFolder locks a backup's folder for one process that writes, or for several that read.
func lockFolder(dir string, write bool) (io.Closer, error) {
	lock, err := durable.LockFolder(dir, write)
	if errors.Is(err, durable.ErrLocked) {
		return nil, errors.New("another process works on the backup in " + dir)
	}
	return lock, err
}

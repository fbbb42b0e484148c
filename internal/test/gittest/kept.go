package gittest

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"arbor/internal/test/testkit"
)

// maxKept is the size in bytes of the largest stream whose repository is kept.
const maxKept = 1 << 20

// imported are the repositories that streams made, by stream. Tests make the same one for
// each engine, and a process of git for each takes longer than the copy.
var imported sync.Map // of [sha256.Size]byte to *keptFiles

// keptFiles are the files of a repository, made once.
type keptFiles struct {
	once  sync.Once
	files fstest.MapFS
}

// keptOf is what is kept of a stream for repositories with the configuration of dir.
func keptOf(tb testing.TB, dir string, stream []byte) *keptFiles {
	tb.Helper()
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	testkit.NoError(tb, err)
	key := sha256.Sum256(append(append(config, 0), stream...))
	kept, _ := imported.LoadOrStore(key, new(keptFiles))
	return kept.(*keptFiles)
}

// isEmpty reports whether dir is a bare repository without objects and refs.
func isEmpty(dir string) bool {
	for _, part := range []string{"objects/pack", "refs/heads", "refs/tags"} {
		if entries, err := os.ReadDir(filepath.Join(dir, part)); err != nil || len(entries) > 0 {
			return false
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "objects"))
	_, packed := os.Stat(filepath.Join(dir, "packed-refs"))
	return err == nil && len(entries) == 2 && packed != nil
}

// filesOf reads a folder.
func filesOf(dir string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		f := &fstest.MapFile{Mode: 0o755 | fs.ModeDir}
		if !e.IsDir() {
			f.Mode = 0o644
			f.Data, err = os.ReadFile(filepath.Join(dir, path))
		}
		files[path] = f
		return err
	})
	return files, err
}

// fill writes the objects and refs among the files.
func fill(tb testing.TB, dir string, files fstest.MapFS) {
	tb.Helper()
	for path, f := range files {
		top, _, _ := strings.Cut(path, "/")
		if f.Mode.IsDir() || top != "objects" && top != "refs" {
			continue
		}
		path = filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		testkit.NoError(tb, err)
	}
}

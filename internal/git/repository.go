package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Repository is a handle on a bare repository's directory.
type Repository struct {
	git *Git
	dir string // absolute
}

// Dir is the absolute path of the repository.
func (r *Repository) Dir() string { return r.dir }

func (r *Repository) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// Exists reports whether Init has run: a repository has no directory until
// its first push.
func (r *Repository) Exists() bool {
	_, err := os.Stat(r.path("HEAD"))
	return err == nil
}

// config is all that a repository's own config file says.
const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

// Init makes the directory of an empty bare repository, durable with its
// parents. Calling it again, also at the same time, changes nothing.
func (r *Repository) Init() error {
	s := r.git.state(r.dir)
	s.initMu.Lock()
	defer s.initMu.Unlock()
	if s.initialized && r.Exists() {
		return nil
	}
	if err := mkdirSynced(filepath.Dir(r.dir)); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(r.path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := r.initFile("config", config); err != nil {
		return err
	}
	// Each directory is synced once, since that is what takes the time, also
	// where another process made, and has not synced yet, what we found.
	if err := errors.Join(syncDir(r.path("objects")), syncDir(r.path("refs"))); err != nil {
		return err
	}
	// HEAD comes last: its presence says that all else is there.
	if err := r.initFile("HEAD", "ref: refs/heads/main\n"); err != nil {
		return err
	}
	if err := errors.Join(syncDir(r.dir), syncDir(filepath.Dir(r.dir))); err != nil {
		return err
	}
	s.initialized = true
	return nil
}

// initFile writes a file unless it is there.
func (r *Repository) initFile(name, contents string) error {
	if _, err := os.Stat(r.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeSynced(r.path(name), func(f *os.File) error {
		_, err := f.WriteString(contents)
		return err
	})
}

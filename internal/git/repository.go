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
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := mkdirSynced(r.path(dir)); err != nil {
			return err
		}
	}
	// HEAD comes last: its presence says that all else is there.
	for _, file := range [][2]string{{"config", config}, {"HEAD", "ref: refs/heads/main\n"}} {
		if _, err := os.Stat(r.path(file[0])); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err := writeSynced(r.path(file[0]), func(f *os.File) error {
			_, err := f.WriteString(file[1])
			return err
		})
		if err != nil {
			return err
		}
	}
	// Another process may have made, and not yet synced, what we found.
	for _, dir := range []string{r.path("objects"), r.path("refs"), r.dir, filepath.Dir(r.dir)} {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	s.initialized = true
	return nil
}

// Forget ends the pooled processes of the repository and drops what is
// remembered of it; for repositories that are deleted.
func (r *Repository) Forget() {
	r.git.pool.retire(r.dir)
	r.git.mu.Lock()
	delete(r.git.states, r.dir)
	r.git.mu.Unlock()
}

package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"arbor/internal/durable"
)

// Repository is a handle on a bare repository's directory.
type Repository struct {
	git   *Git
	dir   string        // absolute
	joins []*Repository // of one made by Joint: where its objects are
}

// Dir is the absolute path of the repository.
func (r *Repository) Dir() string { return r.dir }

func (r *Repository) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// Exists reports whether Init has run: a repository has no directory until
// its first push. One that a Keeper keeps exists as soon as that has packs.
func (r *Repository) Exists() bool {
	if r.OnDisk() {
		return true
	}
	k := r.keeper()
	return k != nil && k.HasPacks()
}

// OnDisk reports whether the directory is there.
func (r *Repository) OnDisk() bool {
	_, err := os.Stat(r.path("HEAD"))
	return err == nil
}

// HasFiles reports whether the folder holds files of objects, in packs or by themselves.
func (r *Repository) HasFiles() bool {
	for _, pattern := range []string{"pack/pack-*.pack", "[0-9a-f][0-9a-f]/*"} {
		if found, _ := filepath.Glob(r.path("objects", filepath.FromSlash(pattern))); len(found) > 0 {
			return true
		}
	}
	return false
}

// Config is all that a repository's own config file says.
const Config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

// folders are the directories of a repository, next to the files config and HEAD.
func folders() []string { return []string{"objects/info", "objects/pack", "refs/heads"} }

// Init creates the directory of an empty bare repository, durable with its
// parents. Calling it again, also at the same time, changes nothing.
func (r *Repository) Init() error {
	s := r.git.state(r.dir)
	s.initMu.Lock()
	defer s.initMu.Unlock()
	if s.initialized && r.OnDisk() {
		return nil
	}
	return r.init(s)
}

// init is Init for the holder of initMu.
func (r *Repository) init(s *state) error {
	if r.keeper() != nil {
		return r.initCache(s)
	}
	if err := durable.MakeDir(filepath.Dir(r.dir)); err != nil {
		return err
	}
	for _, dir := range folders() {
		if err := os.MkdirAll(r.path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := r.initFile("config", Config); err != nil {
		return err
	}
	// Each directory is synced once, since that is what takes the time, also
	// where another process made, and has not synced yet, what we found.
	if err := errors.Join(durable.Sync(r.path("objects")), durable.Sync(r.path("refs"))); err != nil {
		return err
	}
	// HEAD comes last: its presence says that all else is there.
	if err := r.initFile("HEAD", "ref: refs/heads/main\n"); err != nil {
		return err
	}
	if err := errors.Join(durable.Sync(r.dir), durable.Sync(filepath.Dir(r.dir))); err != nil {
		return err
	}
	s.initialized = true
	return nil
}

// initCache is init for a folder that is a cache, where nothing is synced.
func (r *Repository) initCache(s *state) error {
	for _, dir := range folders() {
		if err := os.MkdirAll(r.path(dir), 0o700); err != nil {
			return err
		}
	}
	for _, f := range [][2]string{{"config", Config}, {"HEAD", "ref: refs/heads/main\n"}} {
		if _, err := os.Stat(r.path(f[0])); err == nil {
			continue
		}
		temporary := r.path(f[0] + ".new")
		if err := os.WriteFile(temporary, []byte(f[1]), 0o600); err != nil {
			return err
		}
		if err := os.Rename(temporary, r.path(f[0])); err != nil {
			return err
		}
	}
	s.initialized = true
	return nil
}

// Lacks lists the entries created by Init that the directory lacks. Without them git does not
// recognize the repository, or takes it for another kind. Objects are not included. The list is
// empty if the directory does not exist.
func (r *Repository) Lacks() ([]string, error) {
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var parts []string
	for _, dir := range folders() {
		info, err := os.Stat(r.path(filepath.FromSlash(dir)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// refs/heads itself may go: git asks for refs.
		if top, _, _ := strings.Cut(dir, "/"); top == "refs" && err != nil {
			dir = top
			info, err = os.Stat(r.path(dir))
		}
		if err != nil || !info.IsDir() {
			parts = append(parts, dir)
		}
	}
	for name, whole := range map[string]func(string) bool{
		"config": func(text string) bool { return strings.Contains(text, "repositoryformatversion = 0") },
		"HEAD":   func(text string) bool { return CheckOldRefName(headOf(text)) == nil },
	} {
		text, err := os.ReadFile(r.path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !whole(string(text)) {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	return parts, nil
}

// headOf is the ref that the text of a HEAD names; empty: none.
func headOf(text string) string {
	ref, ok := strings.CutPrefix(text, "ref: ")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(ref, "\n")
}

// Complete recreates what Lacks lists. HEAD is a copy, which the next fetch brings up to
// date.
func (r *Repository) Complete() error {
	parts, err := r.Lacks()
	if err != nil || len(parts) == 0 {
		return err
	}
	s := r.git.state(r.dir)
	s.initMu.Lock()
	defer s.initMu.Unlock()
	for _, name := range parts {
		if name == "config" || name == "HEAD" { // what is there says something else
			if err := os.Remove(r.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return r.init(s)
}

// initFile writes a file unless it is there.
func (r *Repository) initFile(name, contents string) error {
	if _, err := os.Stat(r.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.Replace(r.path(name), func(f *os.File) error {
		_, err := f.WriteString(contents)
		return err
	})
}

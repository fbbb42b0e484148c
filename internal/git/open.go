package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"arbor/internal/errs"
)

// Open returns the repository in dir, which need not exist yet, and pins it: its
// folder stays where it is until release is called, exactly once.
// Errors: NotFound for a repository that Remove was called for; the reason why a
// folder that exists cannot be read.
func (g *Git) Open(ctx context.Context, dir string) (r *Repository, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	r = g.Repository(dir)
	s, err := g.pin(r.dir)
	if err != nil {
		return nil, nil, err
	}
	release = func() { g.unpin(r.dir, s) }
	if err := r.checkReadable(s); err != nil {
		release()
		return nil, nil, err
	}
	return r, release, nil
}

// Repository is Open without a pin, for a directory that nobody removes. It is
// cheap: what is kept between calls is kept in g by directory.
func (g *Git) Repository(dir string) *Repository {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return &Repository{git: g, dir: dir}
}

// Remove calls remove, which takes the folder of a repository away, as soon
// as nobody in this process has the repository open: at once, or by the last
// release. Until then Open fails with NotFound. Pooled processes end first, and
// what is remembered of the repository is dropped. While a removal waits, another
// one of the same repository does nothing.
func (g *Git) Remove(dir string, remove func()) {
	dir = g.Repository(dir).dir
	g.mu.Lock()
	s := g.stateLocked(dir)
	waits := s.remove != nil
	if !waits {
		s.remove = remove
	}
	unused := s.pins == 0
	g.mu.Unlock()
	if unused && !waits {
		g.removeUnused(dir, s)
	}
}

func (g *Git) removeUnused(dir string, s *state) {
	g.pool.Retire(dir)
	s.remove()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.states, dir)
}

// Pinned counts the repositories that are open, each as often as it was opened.
func (g *Git) Pinned() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.states {
		n += s.pins
	}
	return n
}

func (g *Git) pin(dir string) (*state, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stateLocked(dir)
	if s.remove != nil {
		return nil, errs.Absent()
	}
	s.pins++
	return s, nil
}

func (g *Git) unpin(dir string, s *state) {
	g.mu.Lock()
	s.pins--
	last := s.pins == 0 && s.remove != nil
	g.mu.Unlock()
	if last {
		g.removeUnused(dir, s)
	}
}

// checkReadable checks, once, that the repository's folder can be read if
// it exists.
func (r *Repository) checkReadable(s *state) error {
	if s.readable.Load() {
		return nil
	}
	err := r.Check()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("git: a repository cannot be opened: %w", err)
	}
	s.readable.Store(true)
	return nil
}

// Failed returns err, with which git ended in the repository's folder. If the folder is broken, it says how,
// and Open looks at it again.
func (r *Repository) Failed(err error) error {
	broken := r.Check()
	if broken == nil {
		return err
	}
	r.git.state(r.dir).readable.Store(false)
	return fmt.Errorf("git: %s: %w (%v)", r.dir, broken, err) // err may be of a kind that blames the client
}

// Check returns why the repository's folder cannot be used; nil: it can. The error is fs.ErrNotExist where it
// has no HEAD, so that git does not recognize it: in most cases because the folder does not exist.
func (r *Repository) Check() error {
	if _, err := os.Stat(r.path("HEAD")); err != nil {
		return err
	}
	if err := readableDir(r.path("objects")); errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has no folder objects")
	} else if err != nil {
		return err
	}
	if err := readableDir(r.path("objects", "pack")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readableDir returns why the files of a folder cannot be listed.
func readableDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

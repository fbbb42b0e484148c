package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/depot"
	"arbor/internal/durable"
)

// LinkAll creates a hard link to each file, under a new name, without reading or copying its bytes. If the file
// system has no hard links it copies the files. In a depot the service copies them. The new files have no rows yet.
// The entry of a file that was deleted in the meantime is nil.
func (s *Store) LinkAll(ctx context.Context, list []*File) (made []*File, err error) {
	made = make([]*File, len(list))
	defer func() {
		if err != nil {
			s.DiscardAll(ctx, made)
		}
	}()
	dirs := map[string]bool{}
	for n, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.Depot != 0 {
			continue // see below
		}
		x := &File{Name: newName(), Size: f.Size, SHA256: f.SHA256}
		dir := s.dirOf(x.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		// The sweep removes old files without a row, and all links to a file share one age.
		now := time.Now()
		err := os.Chtimes(s.path(f.Name), now, now)
		if err == nil {
			err = os.Link(s.path(f.Name), s.path(x.Name))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if x, err = s.movedOf(ctx, f); err != nil || x == nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		case err != nil:
			if x, err = s.copyOf(ctx, f); err != nil {
				return nil, err
			}
		default:
			dirs[dir] = true
		}
		made[n] = x
	}
	for dir := range dirs {
		if err := durable.Sync(dir); err != nil {
			return nil, err
		}
	}
	if len(dirs) > 0 { // they may be new
		err = errors.Join(durable.Sync(s.dir), durable.Sync(filepath.Dir(s.dir)))
	}
	if err != nil {
		return nil, err
	}
	return made, s.copyAll(ctx, list, made)
}

// parallel is how many objects of a depot are copied at one time for one caller.
const parallel = 8

// copyAll lets depots copy those of the files that lie in them.
func (s *Store) copyAll(ctx context.Context, list, made []*File) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for n, f := range list {
		if f.Depot == 0 {
			continue
		}
		g.Go(func() error {
			x, err := s.copyWithin(ctx, f)
			if err == nil {
				made[n] = x
			}
			return err
		})
	}
	return g.Wait()
}

// copyWithin copies a file within its depot; nil: it was deleted in the meantime.
func (s *Store) copyWithin(ctx context.Context, f *File) (*File, error) {
	in, err := s.depot(ctx, f.Depot)
	if err != nil {
		return nil, err
	}
	x := &File{Name: newName(), Size: f.Size, SHA256: f.SHA256, Depot: f.Depot}
	err = in.Copy(ctx, Path(f.Name), Path(x.Name), f.Size)
	if !isMissing(err) {
		return x, err
	}
	now, err := s.now(ctx, f)
	switch {
	case err != nil || now == nil:
		return nil, err
	case now.Depot != f.Depot: // it was moved
		return s.copyOf(ctx, now)
	}
	return nil, s.damaged(ctx, f, depot.ErrMissing)
}

// movedOf copies a file that is no longer where it was; nil: it was deleted.
func (s *Store) movedOf(ctx context.Context, f *File) (*File, error) {
	now, err := s.now(ctx, f)
	if err != nil || now == nil || now.Depot == f.Depot {
		return nil, err
	}
	return s.copyOf(ctx, now)
}

// copyOf copies the bytes of a file.
func (s *Store) copyOf(ctx context.Context, f *File) (*File, error) {
	in, err := s.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	made, err := s.Receive(ctx, in, f.Size, s.repos.Room.Check)
	if err == nil && made.SHA256 != f.SHA256 {
		s.Discard(ctx, made)
		err = errors.New("file: " + f.Name + " is not what was uploaded")
	}
	return made, err
}

// DiscardAll is Discard of several files; nil ones are skipped.
func (s *Store) DiscardAll(ctx context.Context, list []*File) {
	var gone []location
	for _, f := range list {
		if f != nil {
			gone = append(gone, f.location())
		}
	}
	if len(gone) > 0 {
		s.remove(context.WithoutCancel(ctx), gone)
	}
}

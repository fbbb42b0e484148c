package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/durable"
)

// LinkAll creates a hard link to each file, under a new name, without reading or copying its bytes. If the file system has
// no hard links it copies the files. The new files have no rows yet. The entry of a file that was deleted in the meantime
// is nil.
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
		x := &File{Name: newName(), Size: f.Size, SHA256: f.SHA256}
		dir := filepath.Dir(s.path(x.Name))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		// A sweep takes files without a row by their age, which all links share.
		now := time.Now()
		err := os.Chtimes(s.path(f.Name), now, now)
		if err == nil {
			err = os.Link(s.path(f.Name), s.path(x.Name))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
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
	return made, err
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
	var names []string
	for _, f := range list {
		if f != nil {
			names = append(names, f.Name)
		}
	}
	if len(names) > 0 {
		s.remove(context.WithoutCancel(ctx), names)
	}
}

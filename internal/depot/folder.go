package depot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/durable"
)

// folder is a depot in a local folder: keys are paths below it. folder never creates the folder itself, so that a
// file system that is not mounted is noticed.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

func (f folder) put(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	if _, err := os.Stat(f.path(identityKey)); err != nil {
		return fmt.Errorf("the folder is not what it was: %v", err) //nolint:errorlint // not a missing object
	}
	path := f.path(key)
	if err := durable.MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	return durable.Replace(path, func(out *os.File) error {
		n, err := io.Copy(out, io.NewSectionReader(from, 0, size))
		if err == nil && n != size {
			err = io.ErrUnexpectedEOF
		}
		return errors.Join(err, ctx.Err())
	})
}

func (f folder) create(_ context.Context, key string, data []byte) error {
	return durable.Create(f.path(key), data)
}

func (f folder) get(_ context.Context, key string, offset, _ int64) (io.ReadCloser, int64, error) {
	in, err := os.Open(f.path(key))
	if errors.Is(err, fs.ErrNotExist) && key != identityKey {
		if _, gone := os.Stat(f.path(identityKey)); gone != nil {
			err = fmt.Errorf("the folder is not what it was: %v", gone) //nolint:errorlint // not a missing object
		}
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := in.Stat()
	if err == nil {
		_, err = in.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, in.Close())
	}
	return in, info.Size(), nil
}

func (f folder) copy(ctx context.Context, from, to string) error {
	if err := durable.MakeDir(filepath.Dir(f.path(to))); err != nil {
		return err
	}
	now := time.Now() // the sweep removes old objects without a row, and all links to a file share one age
	err := os.Chtimes(f.path(from), now, now)
	if err == nil && os.Link(f.path(from), f.path(to)) == nil {
		return durable.Sync(filepath.Dir(f.path(to)))
	}
	if err != nil {
		return err
	}
	in, err := os.Open(f.path(from))
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return f.put(ctx, to, in, info.Size())
}

func (f folder) remove(_ context.Context, keys []string) error {
	var all error
	for _, key := range keys {
		if err := os.Remove(f.path(key)); !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

func (f folder) list(ctx context.Context, prefix string, each func(Entry) error) error {
	err := filepath.WalkDir(f.path(prefix), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != string(f) {
			return nil // it was removed in the meantime
		}
		if err = errors.Join(err, ctx.Err()); err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		key := filepath.ToSlash(strings.TrimPrefix(path, string(f)+string(filepath.Separator)))
		return each(Entry{Key: key, Size: info.Size(), Modified: info.ModTime()})
	})
	return err
}

func (f folder) url(context.Context, string, Answer, time.Duration) (string, error) { return "", nil }

func (f folder) renew() {}

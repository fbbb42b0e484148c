package migration

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"arbor/internal/durable"
)

// Sink takes the files of an export, one after another.
type Sink interface {
	// Create begins a file, whose path is relative and has slashes. It is there once it is closed.
	Create(path string) (io.WriteCloser, error)
	// Close ends the export.
	Close() error
}

// folderSink writes into a folder.
type folderSink struct{ dir string }

// NewFolder returns a Sink for a folder, which must be new or empty.
func NewFolder(dir string) (Sink, error) {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return nil, fmt.Errorf("the folder %q is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &folderSink{dir}, nil
}

// Create creates a file and the folders above it.
func (s *folderSink) Create(path string) (io.WriteCloser, error) {
	full := filepath.Join(s.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &syncedFile{f}, nil
}

// Close syncs the folder.
func (s *folderSink) Close() error { return durable.Sync(s.dir) }

// syncedFile is a file that is synced before it is closed.
type syncedFile struct{ *os.File }

// Close syncs and closes the file.
func (f *syncedFile) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// tarSink writes a tar. Each file waits in a temporary one, since its size stands before it.
type tarSink struct{ to *tar.Writer }

// NewTar returns a Sink that writes a tar.
func NewTar(w io.Writer) Sink { return &tarSink{tar.NewWriter(w)} }

// Create creates a temporary file.
func (s *tarSink) Create(path string) (io.WriteCloser, error) {
	f, err := os.CreateTemp("", "arbor-export-")
	if err != nil {
		return nil, err
	}
	return &tarFile{File: f, path: path, to: s.to}, errors.Join(os.Remove(f.Name()))
}

// Close writes the end of the tar.
func (s *tarSink) Close() error { return s.to.Close() }

type tarFile struct {
	*os.File
	path string
	to   *tar.Writer
}

// Close copies the file into the tar.
func (f *tarFile) Close() (err error) {
	defer func() { err = errors.Join(err, f.File.Close()) }()
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = f.to.WriteHeader(&tar.Header{Name: f.path, Mode: 0o600, Size: size})
	}
	if err == nil {
		_, err = io.Copy(f.to, f.File)
	}
	return err
}

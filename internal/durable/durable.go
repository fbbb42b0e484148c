// Package durable writes files so that they survive a crash: acknowledged data is on the disk,
// and so is the file's name.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Temporary begins the names of files that have not been given their own yet. Sweeps remove old ones.
const Temporary = ".tmp-"

// ErrLocked says that another process has locked a folder.
var ErrLocked = errors.New("another process works on this folder")

// Sync flushes a file's content, or the names in a folder, to the disk.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// MakeDir creates a folder and its missing parents, for the owner alone, each durable in its parent.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(parent)
}

// Replace replaces a file's contents atomically: after a crash it has either the old ones or the new. Only
// the owner may read it.
func Replace(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), Temporary+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o600), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return Sync(filepath.Dir(path))
}

// Create writes a new file that only its owner may read, unless there is one already: of several processes that
// create it at one time the first wins, and its file is whole. The name is durable, and so is that of its folder.
func Create(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, Temporary+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(Sync(dir), Sync(filepath.Dir(dir)))
}

// TryName is the name that Try uses: what has it is nothing that stays.
const TryName = ".try"

// Try creates and removes a folder in dir, to check that this process may. Concurrent calls are safe.
func Try(dir string) error {
	path := filepath.Join(dir, TryName)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // of one that was killed
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Clock is the time by the clock of the file system that a folder is on, which gives files their times and
// may be another machine's.
func Clock(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, Temporary+"clock-")
	if err != nil {
		return time.Time{}, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

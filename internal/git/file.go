package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// syncDir makes the names in a directory durable.
func syncDir(dir string) error { return syncPath(dir) }

// syncPath makes a file's or directory's contents durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// mkdirSynced makes dir and its missing parents, each durable in its parent.
func mkdirSynced(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := mkdirSynced(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// writeSynced replaces the file at path in one step: after a crash it has the
// old contents or the new.
func writeSynced(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-"+filepath.Base(path)+"-")
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
	return syncDir(filepath.Dir(path))
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What lies in the data folder is the server's alone, since any account of the
// machine could otherwise read private repositories. What is new gets its modes by
// the umask, see closeUmask; closeFolder is for what older programs, backups and
// operators left behind.

// closing is in a folder whose modes are being closed, until they are.
const closing = ".closing"

// closeFolder makes a folder 0700, and all below it 0700 and 0600. The folder
// comes first, which keeps everybody out at once. All below is walked only where
// the folder was open before, or the walk did not come to its end: so a start
// costs a stat. Folders of the operator's that links lead to are closed alike.
func closeFolder(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	top, err := root.Stat(".")
	if err != nil {
		return err
	}
	_, unfinished := root.Lstat(closing)
	if isOpen(top) || unfinished == nil {
		if err := root.Chmod(".", 0o700); err != nil {
			return fmt.Errorf("the data folder must be its owner's alone: %w", err)
		}
		if err := root.WriteFile(closing, nil, 0o600); err != nil {
			return err
		}
		if err := closeBelow(root); err != nil {
			return fmt.Errorf("the data folder must be its owner's alone: %w", err)
		}
		if err := root.Remove(closing); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return closeLinked(dir)
}

func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// closeBelow sets the modes of all folders and files below a folder. Links are
// not followed, and sockets are left to who may use them.
func closeBelow(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another process has removed it meanwhile
		case err != nil:
			return err
		case d.IsDir():
			mode = 0o700
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != mode {
			err = root.Chmod(path, mode)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// closeLinked closes the folders and files that links in the data folder lead to:
// its own mode does not keep anybody out of those.
func closeLinked(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range list {
		if entry.Type()&fs.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.IsDir():
			err = closeFolder(path)
		case info.Mode().IsRegular() && isOpen(info):
			err = os.Chmod(path, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeDatabase makes the files of a SQLite database 0600, wherever it is.
func closeDatabase(url string) error {
	if strings.Contains(url, "://") {
		return nil
	}
	for _, part := range [...]string{"", "-turn", "-wal", "-shm", "-journal"} {
		info, err := os.Stat(url + part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().IsRegular() && isOpen(info):
			if err := os.Chmod(url+part, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

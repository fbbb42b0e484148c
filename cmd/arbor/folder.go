package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"arbor/internal/backup"
	"arbor/internal/forge"
	"arbor/internal/identity"
)

// The data folder is readable only by the server's account: else any account of the
// machine could read private repositories. New files get their modes by the umask, see
// closeUmask. closeFolder is for files that older programs, backups and operators left.

// closing is a file that marks a folder while the modes below it are being closed.
const closing = ".closing"

// closeFolder sets the mode of a folder to 0700, and of all below it to 0700 and 0600. The folder comes
// first, which keeps everybody out at once. It walks through all below only if the
// folder was open before, or an earlier walk did not end: so a start costs a stat. It
// follows links that the operator made in the folder.
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

// refuseForeign reports a folder that is open to others and holds something, but no store: to make all below
// it its owner's alone would break what is there.
func refuseForeign(dir string) error {
	top, err := os.Stat(dir)
	if err != nil || !isOpen(top) {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	ours := []string{closing, filepath.Base(forge.RepositoriesDir(dir))} // names that others hardly use
	for _, entry := range list {
		name := entry.Name()
		if slices.Contains(ours, name) || strings.HasPrefix(name, "arbor.db") || backup.Marks(name) ||
			identity.IsIdentityFile(name) || name == folderSettings {
			return nil
		}
	}
	for _, entry := range list {
		if name := entry.Name(); name != "lost+found" {
			return fmt.Errorf("%s is not a data folder: it contains %s and no store. Use an empty or a new folder",
				dir, name)
		}
	}
	return nil
}

func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// closeBelow sets the modes of all folders and files below a folder. It does not follow
// links, and leaves sockets as they are.
func closeBelow(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another process has removed it
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

// closeLinked closes the folders and files to which links in the data folder lead: the
// data folder's own mode does not protect them.
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

// closeDatabase sets the mode of a SQLite database's files to 0600, wherever they are.
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

package ephemeral

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/file"
	"arbor/internal/forge"
)

// copyStore creates the folder to with a copy of the closed store in from. Files
// of objects never change, so they become links; all else is copied.
func copyStore(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(from, databaseFile), filepath.Join(to, databaseFile)); err != nil {
		return err
	}
	if err := copyDir(forge.RepositoriesDir(from), forge.RepositoriesDir(to), isObject); err != nil {
		return err
	}
	return copyDir(filepath.Join(from, file.Folder), filepath.Join(to, file.Folder), func(string) bool {
		return true
	})
}

// copyDir copies a folder that may be missing. Files that are written once become links.
func copyDir(from, to string, once func(path string) bool) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == from && os.IsNotExist(err) {
				return nil
			}
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		switch {
		case d.IsDir():
			return os.Mkdir(at, 0o700)
		case once(below) && os.Link(path, at) == nil:
			return nil
		}
		return copyFile(path, at)
	})
}

// isObject reports a file that is written once: a pack, its index, or a loose
// object.
func isObject(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	_, name, ok := strings.Cut(dir, "/objects/")
	return ok && (name == "pack" || len(name) == 2)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

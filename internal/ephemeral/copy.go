package ephemeral

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/forge"
)

// copyStore makes the folder to with what the closed store in from holds. Files
// of objects never change, so they become links; all else is copied.
func copyStore(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(from, databaseFile), filepath.Join(to, databaseFile)); err != nil {
		return err
	}
	repositories, target := forge.RepositoriesDir(from), forge.RepositoriesDir(to)
	return filepath.WalkDir(repositories, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == repositories && os.IsNotExist(err) {
				return nil // no repository has objects
			}
			return err
		}
		below, err := filepath.Rel(repositories, path)
		if err != nil {
			return err
		}
		at := filepath.Join(target, below)
		switch {
		case d.IsDir():
			return os.Mkdir(at, 0o700)
		case isObject(below) && os.Link(path, at) == nil:
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

package packfile

import (
	"errors"
	"io/fs"
	"os"
)

// Files are the files of a pack, wherever they are.
type Files struct {
	Name    string // "pack-XXXX", by which git knows it
	Pack    string // path
	Index   string // path
	Reverse string // path of the reverse index; empty: there is none
}

// Part is one file of a pack.
type Part struct{ Path, Extension string }

// Parts lists the files, the index last: git finds a pack by it.
func (f Files) Parts() []Part {
	parts := []Part{{f.Pack, ".pack"}}
	if f.Reverse != "" {
		parts = append(parts, Part{f.Reverse, ".rev"})
	}
	return append(parts, Part{f.Index, ".idx"})
}

// FilesAt returns the files of a pack at a path without extension.
func FilesAt(path, name string) Files {
	f := Files{Name: name, Pack: path + ".pack", Index: path + ".idx", Reverse: path + ".rev"}
	if _, err := os.Stat(f.Reverse); errors.Is(err, fs.ErrNotExist) {
		f.Reverse = ""
	}
	return f
}

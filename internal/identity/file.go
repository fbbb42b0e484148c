package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"arbor/internal/durable"
)

// fileName is that of the file in the data folder.
const fileName = "arbor-store.json"

// IsIdentityFile reports the name of the file that a data folder has.
func IsIdentityFile(name string) bool { return name == fileName }

// file is what the data folder says.
type file struct {
	Store    string `json:"store"`    // the id
	Database string `json:"database"` // address of the database, for people and for the first bond
	// Node says that the folder is one of several of the store: its repositories and files lie in a depot.
	Node bool `json:"node,omitempty"`
}

func fileOf(id, address string) *file { return &file{Store: id, Database: address} }

// readFile reads the folder's file; nil if there is none.
func readFile(folder string) (*file, error) {
	path := filepath.Join(folder, fileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := &file{}
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err == nil && f.Store == "" {
		err = errors.New("it names no store")
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): it names the database of the folder; run arbor database claim "+
			"to write the file again", path, err)
	}
	return f, nil
}

// replaceFile replaces the folder's file atomically.
func replaceFile(folder string, f *file) error {
	return durable.Replace(filepath.Join(folder, fileName), f.write)
}

func (f *file) write(to *os.File) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		_, err = to.Write(append(text, '\n'))
	}
	return err
}

// makeFile creates the file, with a new id, in a folder without one. If several processes do so
// concurrently one succeeds, and all get its file.
func (s Store) makeFile() (*file, error) { return s.makeFileOf(fileOf(newID(), s.address())) }

// makeNodeFile is makeFile for a folder of a node of its own.
func (s Store) makeNodeFile(r row) (*file, error) {
	f := fileOf(r.Store, s.address())
	f.Node = true
	return s.makeFileOf(f)
}

func (s Store) makeFileOf(f *file) (*file, error) {
	path := filepath.Join(s.Folder, fileName)
	candidate, err := os.CreateTemp(s.Folder, durable.Temporary+fileName+"-")
	if err != nil {
		return nil, err
	}
	err = f.write(candidate)
	err = errors.Join(err, candidate.Sync(), candidate.Close())
	if err == nil {
		if err = os.Link(candidate.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err = errors.Join(err, os.Remove(candidate.Name())); err != nil {
		return nil, err
	}
	if err := durable.Sync(s.Folder); err != nil {
		return nil, err
	}
	return readFile(s.Folder)
}

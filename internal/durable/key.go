package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const keySize = 32 // bytes

// NewKey returns a random key, for a server that keeps nothing.
func NewKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key)
	return key
}

// Key reads the secret key in a folder, and durably creates a missing one. Several nodes with one folder get the same.
func Key(dir string) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ReadKey(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = Create(filepath.Join(dir, keyName), NewKey()); err == nil {
			key, err = ReadKey(dir)
		}
	}
	return key, err
}

const keyName = "key"

// ReadKey reads the secret key in a folder. Error: fs.ErrNotExist if there is none.
func ReadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyName)
	key, err := os.ReadFile(path)
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s has %d bytes, want %d: remove the file", path, len(key), keySize)
	}
	return key, err
}

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
	path := filepath.Join(dir, "key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = Create(path, NewKey()); err == nil {
			key, err = os.ReadFile(path)
		}
	}
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s has %d bytes, want %d: remove the file", path, len(key), keySize)
	}
	return key, err
}

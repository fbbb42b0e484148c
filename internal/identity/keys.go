package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"arbor/internal/db"
)

// CheckKeys compares the keys in folders of the data folder with those of the store's other servers, because all
// servers must be able to verify and decrypt what one has signed or encrypted. An additional node must already have
// all keys. In the data folder to which the database belongs, changed keys become the keys of the store. known maps
// the folders to the digests that the store had before. Errors are for the operator, in one line.
func CheckKeys(ctx context.Context, d *db.DB, s Store, folders []string) (known map[string]string, err error) {
	own, err := readFile(s.Folder)
	if err != nil {
		return nil, err
	}
	node := own != nil && own.Node
	here := map[string]string{}
	for _, name := range folders {
		if here[name], err = DigestKeys(filepath.Join(s.Folder, name)); err != nil {
			return nil, err
		}
	}
	var differ []string
	missing := true
	err = d.Write(ctx, func(tx *db.Tx) error {
		differ, missing = nil, true
		var err error
		known, err = knownKeys(tx)
		for _, name := range folders {
			switch is := known[name]; {
			case err != nil || is == here[name]:
			case node && is != "":
				differ, missing = append(differ, name), missing && here[name] == ""
			case here[name] != "":
				err = tx.Run(`INSERT INTO store_keys (name, sha256) VALUES ($1, $2)
					ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256`, name, here[name])
			}
		}
		return err
	})
	if err != nil || len(differ) == 0 {
		return known, err
	}
	slices.Sort(differ)
	return nil, &KeysError{fmt.Sprintf("the keys of this node differ from those of the store's other servers: remove "+
		"the folders %s from %s and start the node again; it then reads the keys from the storage (--objects)",
		strings.Join(differ, ", "), s.Folder), missing}
}

// KnownKeys returns the digests of the keys that the store has, or had, by the names of their folders.
func KnownKeys(ctx context.Context, d *db.DB) (map[string]string, error) {
	return db.Get(ctx, d, knownKeys)
}

func knownKeys(tx *db.Tx) (map[string]string, error) {
	return db.QueryMap[string, string](tx, `SELECT name, sha256 FROM store_keys`)
}

// KeysError says that a node lacks keys of its store, or has others.
type KeysError struct {
	line    string
	Missing bool // it has none that differ
}

// Error returns the line for the operator.
func (e *KeysError) Error() string { return e.line }

// IsNode reports whether a data folder is one of several of its store.
func IsNode(folder string) (bool, error) {
	own, err := readFile(folder)
	return own != nil && own.Node, err
}

// DigestKeys returns a digest of the files in a folder of keys, which are random and secret; empty if there are none.
func DigestKeys(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	sum, found := sha256.New(), false
	for _, e := range entries { // by name
		if err != nil {
			return "", err
		}
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".pub") {
			continue
		}
		var text []byte
		if text, err = os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			found = true
			fmt.Fprintf(sum, "%s %d\n", e.Name(), len(text))
			sum.Write(text)
		}
	}
	if err != nil || !found {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

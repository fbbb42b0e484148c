package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/identity"
	"arbor/internal/mirror"
	"arbor/internal/signature"
)

// keyFolders are the folders of the data folder with keys that all nodes of a store must have.
var keyFolders = []string{"ssh", "images", "lfs", mirror.Folder, signature.Folder}

// keyName matches the file names of private keys and their public keys.
var keyName = regexp.MustCompile(`^(key|web-flow\.key|ssh_host_[a-z0-9]+_key(\.pub)?)$`)

// maxKey bounds a file with a key, in bytes.
const maxKey = 64 << 10

// bondTime is how long a server with a new data folder waits for the one that makes the store at the same moment.
const bondTime = time.Minute

// awaitKeys is bringKeys, and waits for the first server of a store, which makes the keys.
func (s *store) awaitKeys(ctx context.Context, files *file.Store) (known map[string]string, err error) {
	isNode, err := identity.IsNode(s.dir)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		known, err = s.bringKeys(ctx, files)
		var differ *identity.KeysError
		late := errors.As(err, &differ) && differ.Missing || err == nil && isNode && known["lfs"] == ""
		if !late {
			return known, err
		}
		if time.Since(began) > bondTime {
			return nil, cmp.Or(err, errors.New("the store's first server has not left its keys in the storage (--objects) yet: "+
				"start it, and then this one"))
		}
		if err := git.Sleep(ctx, bondTime/120); err != nil {
			return nil, err
		}
	}
}

// bringKeys takes keys that the data folder lacks from the depot, where the node that made them left them, and checks
// that all are those of the store. known are the folders whose keys the store has, or had.
func (s *store) bringKeys(ctx context.Context, files *file.Store) (known map[string]string, err error) {
	_, from, err := files.Place(ctx)
	if err == nil && from != nil {
		err = s.bringFolders(ctx, from)
	}
	if err != nil && !errs.Is(err, errs.Unavailable) { // what is here may be all that there is
		return nil, err
	}
	return identity.CheckKeys(ctx, s.db, s.identity(), keyFolders)
}

// bringFolders takes the folders with keys that are not there.
func (s *store) bringFolders(ctx context.Context, from *depot.Depot) error {
	want := map[string]string{}
	isNode, err := identity.IsNode(s.dir)
	if err == nil && isNode {
		want, err = identity.KnownKeys(ctx, s.db)
	}
	for _, name := range keyFolders {
		if err == nil {
			err = s.bringFolder(ctx, from, name, want[name])
		}
	}
	return err
}

// bringFolder copies the keys of one folder from the depot, all or none, if the data folder has none of them. If want
// is not empty, it is the digest of all keys: bringFolder copies no others, because the first server may still be
// uploading them.
func (s *store) bringFolder(ctx context.Context, from *depot.Depot, name, want string) error {
	dir := filepath.Join(s.dir, name)
	if there, err := keysIn(dir); err != nil || len(there) > 0 {
		return err
	}
	list := map[string]depot.Entry{}
	prefix := depot.SecretKeys + name + "/"
	err := from.List(ctx, prefix, func(e depot.Entry) error {
		if base := strings.TrimPrefix(e.Key, prefix); 0 < e.Size && e.Size <= maxKey && keyName.MatchString(base) {
			list[base] = e
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	beside, err := os.MkdirTemp(s.dir, durable.Temporary+name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(beside)
	for base, e := range list {
		if err := bringKeyFile(ctx, from, e, filepath.Join(beside, base)); err != nil {
			return err
		}
	}
	if want != "" {
		if digest, err := identity.DigestKeys(beside); err != nil || digest != want {
			return err
		}
	}
	return placeKeys(beside, dir)
}

// placeKeys renames a folder with keys to one that is not there, or holds no keys, unless another process is faster.
func placeKeys(from, to string) error {
	killed, err := filepath.Glob(filepath.Join(to, durable.Temporary+"*"))
	for _, part := range killed { // of a process that was about to make a key
		err = errors.Join(err, os.Remove(part))
	}
	if empty := os.Remove(to); err == nil && !errors.Is(empty, fs.ErrNotExist) {
		err = empty
	}
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		if there, e := keysIn(to); e == nil && len(there) > 0 {
			return nil
		}
		return err
	}
	return durable.Sync(filepath.Dir(to))
}

func bringKeyFile(ctx context.Context, from *depot.Depot, e depot.Entry, to string) error {
	in, err := from.Get(ctx, e.Key, 0, e.Size, e.Size)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	return durable.Create(to, text)
}

// leaveKeys checks the keys once more, with those that were just made, and leaves them in the depot for other nodes.
func (s *store) leaveKeys(ctx context.Context, files *file.Store) error {
	if _, err := identity.CheckKeys(ctx, s.db, s.identity(), keyFolders); err != nil {
		return err
	}
	_, to, err := files.Place(ctx)
	if err != nil || to == nil {
		return err
	}
	isNode, err := identity.IsNode(s.dir)
	if err != nil {
		return err
	}
	there := map[string]int64{}
	err = to.List(ctx, depot.SecretKeys, func(e depot.Entry) error {
		there[e.Key] = e.Size
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range keyFolders {
		list, err := keysIn(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		for base, text := range list {
			key := path.Join(depot.SecretKeys, name, base)
			if _, has := there[key]; has && isNode { // the first server's count
				continue
			}
			if err := to.Put(ctx, key, bytes.NewReader(text), int64(len(text))); err != nil {
				return fmt.Errorf("leaving keys for other nodes: %w", err)
			}
		}
	}
	return nil
}

// keysIn reads the files with keys in a folder that may be missing, by name.
func keysIn(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	list := map[string][]byte{}
	for _, e := range entries {
		if err == nil && e.Type().IsRegular() && keyName.MatchString(e.Name()) {
			list[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		}
	}
	return list, err
}

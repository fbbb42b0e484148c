package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// mark writes the identity file of a data folder.
func (e *estate) mark() {
	e.t.Helper()
	testkit.NoError(e.t, os.WriteFile(filepath.Join(e.data, "arbor-store.json"),
		[]byte(`{"store":"the-store","database":"arbor.db"}`), 0o600))
}

// keeps holds that a file can be read where it is.
func (e *estate) keeps(f *file.File, where, content string) {
	e.t.Helper()
	got, err := e.read(e.node(), f)
	if e.where(f) != where || got != content || err != nil {
		e.t.Errorf("the file is in %q, and has %q, %v", e.where(f), got, err)
	}
}

// link returns a symbolic link to a folder.
func link(t *testing.T, to string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	testkit.NoError(t, os.Symlink(to, path))
	return path
}

// refusedPlace holds that an error says that a place is not one for files.
func refusedPlace(t *testing.T, path string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %q", path, err, want)
	}
}

// Files do not move to the data folder as a depot, to a folder in it or around it, or to a link to one of them.
func TestMoveToDataFolder(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.mark()
	f := e.add("seeds")
	inside := filepath.Join(e.data, "inside")
	testkit.NoError(t, os.Mkdir(inside, 0o700))
	for _, path := range []string{e.data, filepath.Join(e.data, file.Folder), inside, filepath.Dir(e.data),
		link(t, e.data), link(t, inside)} {
		_, err := e.move("file://" + path)
		refusedPlace(t, path, err, "which this store uses already")
		e.keeps(f, "data", "seeds")
	}
	if _, err := os.Stat(filepath.Join(inside, "arbor-store.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that was refused belongs to the store: %v", err)
	}
	_, err := e.move(e.address())
	testkit.NoError(t, err)
	e.keeps(f, "away", "seeds")
}

// Files whose folder in the data folder is a link do not move to the folder around what it leads to.
func TestMoveToLinkedFiles(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.mark()
	f := e.add("seeds")
	testkit.NoError(t, os.WriteFile(filepath.Join(e.away, "arbor-store.json"), []byte(`{"store":"the-store"}`), 0o600))
	testkit.NoError(t, os.Rename(filepath.Join(e.data, file.Folder), filepath.Join(e.away, file.Folder)))
	testkit.NoError(t, os.Symlink(filepath.Join(e.away, file.Folder), filepath.Join(e.data, file.Folder)))
	_, err := e.move(e.address())
	refusedPlace(t, e.away, err, "which this store uses already")
	e.keeps(f, "dataaway", "seeds")
}

// Files do not move to the folder where they are, by another name.
func TestMoveToSameFolder(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.use()
	f := e.add("seeds")
	inside := filepath.Join(e.away, "inside")
	testkit.NoError(t, os.Mkdir(inside, 0o700))
	for _, path := range []string{link(t, e.away), inside} {
		_, err := e.move("file://" + path)
		refusedPlace(t, path, err, "which this store uses already")
		e.keeps(f, "away", "seeds")
	}
	// As a file system that is mounted twice, whose folders do not show that they are the same.
	mounted := t.TempDir()
	id, err := os.ReadFile(filepath.Join(e.away, "arbor-store.json"))
	testkit.NoError(t, errors.Join(err, os.WriteFile(filepath.Join(mounted, "arbor-store.json"), id, 0o600)))
	_, err = e.move("file://" + mounted)
	refusedPlace(t, mounted, err, "is the same place as "+e.address())
	e.keeps(f, "away", "seeds")
}

// A server does not start with the data folder as a depot.
func TestUseOfDataFolder(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.mark()
	for _, path := range []string{e.data, link(t, e.data)} {
		_, err := e.node().Use(t.Context(), "file://"+path)
		refusedPlace(t, path, err, "which this store uses already")
	}
	f := e.add("seeds")
	dbtest.Exec(t, e.d, `INSERT INTO depots (id, address, store, chosen_at) VALUES (7, $1, 'the-store', 1)`,
		"file://"+e.data)
	_, err := e.node().Use(t.Context(), "file://"+e.data)
	refusedPlace(t, e.data, err, "is the data folder of a store")
	dbtest.Exec(t, e.d, `UPDATE files SET depot_id = 7`)
	e.sweep()
	if e.where(f) != "data" {
		t.Errorf("after a sweep the file is in %q", e.where(f))
	}
}

// sweep sweeps without grace. A depot that is not the store's is an error, which is no matter here.
func (e *estate) sweep() {
	e.t.Helper()
	for shard := range int64(256) {
		node := e.node()
		testkit.NoError(e.t, node.SweepFolder(e.t.Context(), shard, -time.Hour))
		if err := node.SweepShard(e.t.Context(), shard, -time.Hour); err != nil && shard == 0 {
			e.t.Log(err)
		}
	}
}

// If two places became one after they were chosen, no sweep and no move removes the only copy.
func TestPlacesThatBecameOne(t *testing.T) {
	t.Parallel()
	e := newEstate(t, db.SQLite)
	e.use()
	f := e.add("seeds")
	dbtest.Exec(t, e.d, `INSERT INTO depots (id, address, store, chosen_at) VALUES (7, $1, 'the-store', 1)`,
		"file://"+link(t, e.away))
	for _, id := range []file.DepotID{7, f.Depot} {
		dbtest.Exec(t, e.d, `UPDATE files SET depot_id = $1`, id)
		f.Depot = id
		left, err := e.files.Receive(t.Context(), strings.NewReader("left"), 4, nil)
		testkit.NoError(t, err)
		e.sweep()
		e.keeps(f, "away", "seeds")
		if e.where(left) != "" {
			t.Errorf("a leftover is in %q", e.where(left))
		}
	}
	// Of the second address the move finds no depot any more: that is its error.
	if moved, err := e.move(""); moved.Files != 1 {
		t.Errorf("the move: %+v, %v", moved, err)
	}
	f.Depot = 0
	e.keeps(f, "data", "seeds")
	// The data folder's files now lie where the depot's did.
	e = newEstate(t, db.SQLite)
	e.use()
	f = e.add("seeds")
	testkit.NoError(t, os.RemoveAll(filepath.Join(e.data, file.Folder)))
	testkit.NoError(t, os.Symlink(filepath.Join(e.away, file.Folder), filepath.Join(e.data, file.Folder)))
	if moved, err := e.move(""); err != nil || moved.Files != 1 {
		t.Errorf("the move: %+v, %v", moved, err)
	}
	e.keeps(f, "dataaway", "seeds")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A copy of a data folder has its id, and often its file of settings. A server on the copy and on the
// database of the first one would take pushes that the others do not find. A copy of a database would
// number repositories as the first one does.
func TestCopiesAreRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		s.repo("alice/garden", gittest.Repository(t, 1, 1))
		folder := filepath.Join(t.TempDir(), "copy")
		testkit.NoError(t, os.CopyFS(folder, os.DirFS(s.data)))
		copied := s.in(folder)
		link := filepath.Join(t.TempDir(), "link")
		testkit.NoError(t, os.Symlink(s.data, link))
		s.in(link).arbor("user", "list")
		if engine == db.SQLite {
			other := filepath.Join(folder, "arbor.db")
			s.on(other).refuses(s.data+" belongs to the database", "do not set --database (or ARBOR_DATABASE)")
			copied.refuses(folder+" belongs to the database", "do not set --database (or ARBOR_DATABASE)")
			own := copied.on("")
			own.arbor("user", "list") // both were copied
			return
		}
		copied.refuses(folder+" is a copy of the data folder "+s.data, "use --data "+s.data)
		copied.arbor("database", "claim")
		copied.arbor("user", "list")
		s.refuses("belongs to the data folder " + folder)
		moved := filepath.Join(t.TempDir(), "moved")
		testkit.NoError(t, os.Rename(folder, moved))
		s.in(moved).arbor("user", "list")
	})
}

// A server on an empty folder would take the database of a store that is older than the ids from its own
// folder.
func TestOlderStoreIsNotBoundToAnEmptyFolder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		s.repo("alice/empty", "") // has no folder until something is pushed
		s.older()
		s.start()
		s.stop()
		s.repo("alice/garden", gittest.Repository(t, 1, 1))
		s.older()
		out, err := s.in(t.TempDir()).tells("serve")
		if err == nil || !strings.Contains(out, "has repositories") || !strings.Contains(out, "set --data") {
			t.Errorf("a server on an empty folder: %v: %s", err, out)
		}
		s.start()
		s.stop()
	})
}

// A folder whose file was removed or damaged says how it gets it again.
func TestLostFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		file := filepath.Join(s.data, "arbor-store.json")
		for _, damage := range []func() error{
			func() error { return os.Remove(file) },
			func() error { return os.Truncate(file, 5) },
		} {
			testkit.NoError(t, damage())
			s.refuses(file, "arbor database claim to write the file again")
			s.arbor("database", "claim")
			s.arbor("user", "list")
		}
	})
}

// What a server or a command writes to a database while that is moved would be lost.
func TestNobodyWritesDuringAMove(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		lock, err := durable.LockFolder(s.data, true) // as a move does
		testkit.NoError(t, err)
		for _, args := range [][]string{{"user", "create", "bob"}, {"serve"}, {"database", "claim"}} {
			if out, err := s.tells(args...); err == nil || strings.Count(out, "\n") != 1 {
				t.Errorf("%q during a move: %v: %s", args, err, out)
			}
		}
		testkit.NoError(t, lock.Close())
		s.start()
		to := filepath.Join(t.TempDir(), "to.db")
		if out, err := s.tells("database", "move", to); err == nil || !strings.Contains(out, "stop it first") {
			t.Errorf("a move while a server works: %v: %s", err, out)
		}
		s.stop()
		s.arbor("database", "move", to)
	})
}

// Two servers in one folder on a database and its copy would remove each other's repositories.
func TestCopiedDatabaseIsRefusedNextToTheFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			return // see TestCopiesAreRefused
		}
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		s.start()
		text, err := os.ReadFile(filepath.Join(s.data, "arbor-store.json"))
		testkit.NoError(t, err)
		id := strings.Split(string(text), `"`)[3]
		other := s.on(dbtest.URL(t, engine))
		other.exec(`INSERT INTO store_identity (id, store, folder) VALUES (1, '` + id + `', '` + s.data + `')`)
		out, err := other.tells("serve")
		if err == nil || !strings.Contains(out, s.data+" belongs to the database") {
			t.Errorf("a server on a copy: %v: %s", err, out)
		}
		named := s.on(strings.Replace(s.database, "postgres://", "postgresql://", 1)) // the same in other words
		named.start()
		named.stop()
		s.stop()
	})
}

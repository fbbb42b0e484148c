package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// on is the instance's data folder with another database; "" is the one in the folder.
func (s *instance) on(database string) *instance {
	o := s.node()
	o.database = database
	o.env = slices.DeleteFunc(slices.Clone(s.env), func(v string) bool { return strings.HasPrefix(v, "ARBOR_DATABASE=") })
	if database != "" {
		o.env = append(o.env, "ARBOR_DATABASE="+database)
	}
	return o
}

// in is the instance's database with another data folder.
func (s *instance) in(data string) *instance {
	o := s.on(s.database)
	if s.database == "" {
		o = s.on(filepath.Join(s.data, "arbor.db"))
	}
	o.data, o.env = data, append(o.env, "ARBOR_DATA="+data)
	return o
}

// refuses runs commands and a server, which must end with one line that says all of want.
func (s *instance) refuses(want ...string) {
	s.t.Helper()
	backup := filepath.Join(s.t.TempDir(), "backup")
	for _, args := range [][]string{{"user", "create", "mallory"}, {"user", "list"}, {"backup", backup}, {"check"},
		{"serve"}} {
		out, err := s.tells(args...)
		if err == nil || strings.Count(out, "\n") != 1 || strings.Contains(out, "secret") {
			s.t.Errorf("%q: %v: %s", args, err, out)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				s.t.Errorf("%q says %q, without %q", args, out, w)
			}
		}
	}
	if _, err := os.Stat(backup); err == nil {
		s.t.Error("there is a backup")
	}
}

// older makes the store one from before databases and folders had ids.
func (s *instance) older() {
	s.t.Helper()
	s.exec(`DELETE FROM store_identity`)
	if err := os.Remove(filepath.Join(s.data, "arbor-store.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
}

// withPassword puts a password into an address of PostgreSQL, which the tests' server does not ask for.
func withPassword(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if user, host, ok := strings.Cut(rest, "@"); ok && !strings.Contains(user, "/") {
		name, _, _ := strings.Cut(user, ":")
		return scheme + "://" + name + ":secret@" + host
	}
	return url + "&password=secret"
}

// A command or a server with the wrong --database would number repositories from 1 and remove those of the
// folder's own store, or back up the wrong database every night. A command with the wrong --data would put
// pushes where nobody finds them.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		if engine == db.PostgreSQL {
			s = s.on(withPassword(s.database))
		}
		s.makeTables()
		s.user("alice")
		s.repo("alice/garden", "")
		other := filepath.Join(t.TempDir(), "other.db")
		dbtest.WriteSQLite(t, other)
		text, err := os.ReadFile(filepath.Join(s.data, "arbor-store.json"))
		if err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("the folder's file: %v: %s", err, text)
		}
		flag := "do not set --database (or ARBOR_DATABASE)"
		if engine == db.PostgreSQL {
			flag = "use --database postgres://"
			s.on("").refuses(s.data+" belongs to the database postgres://", flag)
			if _, err := os.Stat(filepath.Join(s.data, "arbor.db")); err == nil {
				t.Error("a second database was made")
			}
		}
		s.on(other).refuses(s.data+" belongs to the database", flag)
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		s.in(elsewhere).refuses("belongs to the data folder "+s.data, "use --data "+s.data)
		s.start()
		if out, err := s.on(other).tells("database", "claim"); err == nil || !strings.Contains(out, "stop it first") {
			t.Errorf("a claim while a server runs: %v: %s", err, out)
		}
		s.stop()
		// A seed and a restore refuse as well, before they touch anything.
		file := filepath.Join(t.TempDir(), "seed.yaml")
		testkit.NoError(t, os.WriteFile(file, []byte("users: [{login: bob}]\n"), 0o600))
		if out, err := s.on(other).tells("serve", "--seed", file); err == nil || !strings.Contains(out, "belongs to") {
			t.Errorf("a seed: %v: %s", err, out)
		}
		backup := filepath.Join(t.TempDir(), "backup")
		s.arbor("backup", backup)
		for _, folder := range []string{"repositories", "signing", "images"} {
			err := os.Rename(filepath.Join(s.data, folder), filepath.Join(t.TempDir(), folder))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if out, err := s.on(other).tells("restore", backup); err == nil || !strings.Contains(out, "belongs to") {
			t.Errorf("a restore: %v: %s", err, out)
		}
		if out := s.arbor("user", "list"); !strings.Contains(out, "alice") {
			t.Errorf("the store's own database: %s", out)
		}
		s.on(other).arbor("database", "claim")
		s.on(other).arbor("user", "create", "carol")
		s.refuses(s.data+" belongs to the database "+other, "use --database "+other)
	})
}

// A new database knows no repository, so a server on it would remove all that it finds: where a store is
// older than the ids, and where its database was lost.
func TestNewDatabaseIsRefusedWhereRepositoriesAre(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		s.repo("alice/garden", gittest.Repository(t, 1, 1))
		s.older()
		s.on(filepath.Join(t.TempDir(), "new.db")).refuses("holds repositories", "--database")
		s.arbor("user", "list") // the right one works, and a server binds it
		s.start()
		s.stop()
		empty := filepath.Join(t.TempDir(), "new.db")
		dbtest.WriteSQLite(t, empty)
		s.on(empty).refuses("belongs to the database")
		if engine == db.SQLite {
			for _, part := range []string{"", "-wal", "-shm"} {
				os.Remove(filepath.Join(s.data, "arbor.db"+part))
			}
			s.refuses("holds repositories")
		}
	})
}

// A store from before the ids gets them when a server starts, once, also of two that start at once. What
// stopped half-way is taken up.
func TestOlderStoresAreBound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		s.older()
		left := filepath.Join(t.TempDir(), "left.db") // as a move of the version before left it
		s.arbor("database", "move", left)
		s.older()
		s.arbor("user", "list")
		if _, err := os.Stat(filepath.Join(s.data, "arbor-store.json")); err == nil {
			t.Error("a command binds an older store: it may have the wrong flags")
		}
		nodes := []*instance{s, s.on(s.database), s.on(s.database)}
		var failed [3]error
		var all sync.WaitGroup
		for i, n := range nodes {
			all.Go(func() { failed[i] = n.tryStart() })
		}
		all.Wait()
		for i, n := range nodes {
			if failed[i] != nil {
				t.Errorf("server %d: %v", i, failed[i])
			} else {
				n.stop()
			}
		}
		old := s.on(left)
		old.exec(`DELETE FROM store_identity`)
		old.refuses("belongs to the database")
		s.exec(`DELETE FROM store_identity`) // killed between the folder and the database
		s.arbor("user", "list")
		s.start()
		s.stop()
		copied := filepath.Join(t.TempDir(), "copy") // has its own SQLite database
		if engine == db.SQLite {
			testkit.NoError(t, os.CopyFS(copied, os.DirFS(s.data)))
			again := s.on("")
			again.data, again.env = copied, append(again.env, "ARBOR_DATA="+copied)
			again.arbor("user", "create", "bob")
			again.start()
			again.stop()
		}
	})
}

// After a move the old database goes on being read by nightly backups and forgotten flags, unless it is
// refused.
func TestMovedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		to := db.PostgreSQL
		if engine == db.PostgreSQL {
			to = db.SQLite
		}
		moved := s.on(withPassword(dbtest.URL(t, to)))
		s.arbor("database", "move", moved.database)
		s.refuses("was moved to", "use --database ")
		moved.arbor("user", "create", "bob")
		moved.start()
		moved.stop()
		if out, err := moved.tells("database", "move", s.address()); err == nil || !strings.Contains(out, "not empty") {
			t.Errorf("a move back into what is there: %v: %s", err, out)
		}
		back := dbtest.URL(t, engine)
		moved.arbor("database", "move", back)
		s.on(back).arbor("user", "create", "carol")
		moved.refuses("was moved to")
		s.arbor("database", "claim") // the way back that forgets
		if out := s.arbor("user", "list"); strings.Contains(out, "bob") {
			t.Errorf("what the old database holds: %s", out)
		}
		s.on(back).refuses("belongs to the database")
	})
}

// address is the database's address, also of the one in the data folder.
func (s *instance) address() string {
	if s.database == "" {
		return filepath.Join(s.data, "arbor.db")
	}
	return s.database
}

// Wherever a move is killed, one of both databases is the store's, with all that is in it, and the move can
// be made again.
func TestKilledMove(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		new := s.on(filepath.Join(t.TempDir(), "new.db"))
		for after := 20 * time.Millisecond; ; after = after * 5 / 4 {
			ended := s.killedAfter(after, "database", "move", new.database)
			if s.database != "" {
				dbtest.Deserted(t, s.database)
			}
			old, oldErr := s.tells("user", "list")
			now, newErr := new.tells("user", "list")
			switch {
			case (oldErr == nil) == (newErr == nil):
				t.Fatalf("after %s both or none open: %s %s", after, old, now)
			case newErr == nil && !strings.Contains(now, "alice"):
				t.Fatalf("after %s the new one holds %s", after, now)
			case newErr == nil: // killed or not
				return
			case ended:
				t.Fatalf("it was moved, and does not open: %s", now)
			}
		}
	})
}

// A restored store is bound, and a copy of a store's database is not taken for it.
func TestRestoredStoreIsBound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		backup := filepath.Join(t.TempDir(), "backup")
		s.arbor("backup", backup)
		again := newInstance(t, engine)
		again.arbor("restore", backup)
		again.start()
		again.stop()
		s.on(again.address()).refuses("belongs to the database")
		again.in(s.data).refuses("belongs to the database")
		// What a killed restore filled is emptied; what others filled is not.
		testkit.NoError(t, os.WriteFile(filepath.Join(again.data, "restoring"), nil, 0o600))
		if out, err := again.on(s.address()).tells("restore", backup); err == nil {
			t.Errorf("a restore over another store: %s", out)
		}
		if out := s.arbor("user", "list"); !strings.Contains(out, "alice") {
			t.Errorf("it erased the other store: %s", out)
		}
		again.arbor("restore", backup)
		again.arbor("user", "list")
	})
}

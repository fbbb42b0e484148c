package db_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

func join(t *testing.T, d *db.DB, name string) *db.Node {
	t.Helper()
	n, err := d.Join(t.Context(), name, "1.0", slog.New(slog.DiscardHandler))
	testkit.NoError(t, err)
	return n
}

func nodes(t *testing.T, d *db.DB) (names string) {
	t.Helper()
	testkit.NoError(t, d.Read(t.Context(), func(tx *db.Tx) error {
		list, err := db.Nodes(tx)
		names = ""
		for _, n := range list {
			if names += " " + n.Name; !n.Live {
				names += "?"
			}
		}
		return err
	}))
	return strings.TrimSpace(names)
}

// Nodes know of each other; one that died is a node for a while, and its row goes later.
func TestNodes(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		a := join(t, d, "a")
		b := join(t, d, "b")
		if a.Others() != 0 || b.Others() != 1 {
			t.Errorf("a knows of %d, b of %d others", a.Others(), b.Others())
		}
		beat(t, a)
		if a.Others() != 1 || nodes(t, d) != "a b" {
			t.Errorf("a knows of %d others; the nodes are %s", a.Others(), nodes(t, d))
		}
		mustWrite(t, d, stmt(`UPDATE nodes SET seen_at = seen_at - 31000000 WHERE name = 'b'`))
		beat(t, a)
		if a.Others() != 0 || nodes(t, d) != "a b?" {
			t.Errorf("a knows of %d others; the nodes are %s", a.Others(), nodes(t, d))
		}
		mustWrite(t, d, stmt(`UPDATE nodes SET seen_at = seen_at - 90000000000 WHERE name = 'b'`))
		beat(t, a)
		if nodes(t, d) != "a" {
			t.Errorf("the nodes are %s", nodes(t, d))
		}
		beat(t, b) // it only slept
		if nodes(t, d) != "a b" {
			t.Errorf("the nodes are %s", nodes(t, d))
		}
	})
}

func beat(t *testing.T, n *db.Node) {
	t.Helper()
	testkit.NoError(t, n.Beat(t.Context()))
}

// A clock that is off would order what happens wrongly.
func TestNodeWithAWrongClock(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t, db.PostgreSQL)
	for off, want := range map[time.Duration]string{
		1500 * time.Millisecond: "ahead of that of the database", -time.Hour: "behind that of the database",
		200 * time.Millisecond: "",
	} {
		d := dbtest.OpenWith(t, db.Options{URL: address, Now: func() time.Time {
			return time.Now().Add(off)
		}})
		switch _, err := d.Join(t.Context(), "late", "1.0", slog.New(slog.DiscardHandler)); {
		case want == "" && err != nil:
			t.Errorf("off by %s: %v", off, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("off by %s: %v, want %q", off, err, want)
		}
	}
}

// A migration that older programs do not understand waits until none of them runs; one that
// slept meanwhile stops.
func TestMigrationThatWantsToBeAlone(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.URL(t, engine)
		d := dbtest.OpenURL(t, address)
		n := join(t, d, "old")
		m := migrationsAnd(t, "9001_adds.sql", `CREATE TABLE added (id {{id}})`)
		if err := reopen(t, address, m, nil); err != nil {
			t.Errorf("a migration that adds: %v", err)
		}
		beat(t, n)
		m["9002_adds.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE more (id {{id}})`)}
		m["9003_drops.alone.sql"] = &fstest.MapFile{Data: []byte(`DROP TABLE added`)}
		var inUse *db.InUseError
		if err := reopen(t, address, m, nil); !errors.As(err, &inUse) ||
			!strings.Contains(err.Error(), "old, version 1.0") {
			t.Errorf("while an old node works: %v", err)
		}
		if number(t, d, `SELECT count(*) FROM schema_migrations WHERE version = 9002`) != 0 {
			t.Error("the refused upgrade left a migration, so the old program would not start again")
		}
		mustWrite(t, d, stmt(`UPDATE nodes SET seen_at = seen_at - 31000000`))
		if err := reopen(t, address, m, nil); err != nil {
			t.Errorf("when the old node is gone: %v", err)
		}
		if err := n.Beat(t.Context()); !errors.Is(err, db.ErrOutdated) {
			t.Errorf("the old node goes on: %v", err)
		}
		if err := n.Run(done(t)); err != nil || nodes(t, d) != "" {
			t.Errorf("a node that stopped: %v; the nodes are %s", err, nodes(t, d))
		}
	})
}

// done is a context that has ended.
func done(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// migrationsAnd are the program's migrations and one more.
func migrationsAnd(t *testing.T, name, text string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{name: {Data: []byte(text)}}
	err := fs.WalkDir(db.Migrations, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(db.Migrations, file)
		m[file] = &fstest.MapFile{Data: text}
		return err
	})
	testkit.NoError(t, err)
	return m
}

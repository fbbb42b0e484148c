package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// migrator is a connection that changes the schema, while no other process
// does.
type migrator interface {
	conn
	// lock keeps other migrators out until unlock.
	lock(ctx context.Context) error
	unlock() error
	begin() error
	// finish commits when err is nil, else rolls back; it returns the error
	// that remains.
	finish(err error) error
	// checkForeignKeys looks for rows that a migration left without what they name. SQLite
	// reads the whole store for it.
	checkForeignKeys() error
	// script runs many statements, with tokens already replaced.
	script(ctx context.Context, text string) error
	tokens() *strings.Replacer
	close()
	// leave is close for a database that is being opened, which may go on with the connection.
	leave() error
}

// bookkeeping tables are older than every migration.
const bookkeeping = `
CREATE TABLE IF NOT EXISTS schema_migrations (
	version    BIGINT PRIMARY KEY,
	name       {{text}} NOT NULL,
	checksum   {{text}} NOT NULL,
	applied_at BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS generations (
	topic {{text}} PRIMARY KEY,
	value BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS nodes (
	id         {{id}},
	name       {{text}} NOT NULL,
	version    {{text}} NOT NULL,
	started_at BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL,
	skew       BIGINT NOT NULL
);`

// aloneSuffix ends the name of a migration that is incompatible with older programs: it removes what they
// read, or requires more than they write. It waits until none of them serves the database. All other
// migrations only add, so nodes of the previous version continue.
const aloneSuffix = ".alone"

// migration is a file NNNN_name.sql, in which linesFor parts the engines, or a folder NNNN_name with a
// folder of files for each engine. The first is the schema of a new database; its file takeover.sql is for
// one with the migrations before it (squash.go).
type migration struct {
	version  int64
	name     string
	checksum string    // SHA-256 of all its bytes, in hex
	texts    [2]string // by Engine
	takeover [2]string
}

// migrate applies what the database lacks, each migration in a transaction of
// its own, so that one that fails leaves those before it.
func migrate(ctx context.Context, b backend, o Options, files fs.FS) (err error) {
	known, err := readMigrations(files)
	if err != nil {
		return err
	}
	m, err := b.migrator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.leave()) }()
	if err := m.lock(ctx); err != nil {
		return fmt.Errorf("db: wait for other migrations: %w", err)
	}
	defer func() { err = errors.Join(err, m.unlock()) }()
	if err := m.begin(); err != nil {
		return err
	}
	if err := m.finish(m.script(ctx, m.tokens().Replace(bookkeeping))); err != nil {
		return fmt.Errorf("db: create the tables of migrations: %w", err)
	}
	applied, err := appliedMigrations(ctx, m)
	if err != nil {
		return err
	}
	if applied, err = takeOver(ctx, m, o, known, applied); err != nil {
		return err
	}
	if err := checkMigrations(known, applied); err != nil {
		return err
	}
	pending := slices.DeleteFunc(known, func(k migration) bool { _, done := applied[k.version]; return done })
	for _, next := range pending { // before the first, so that a refused upgrade changes nothing
		if err := checkAlone(ctx, m, next); err != nil {
			return err
		}
	}
	for _, next := range pending {
		if err := applyMigration(ctx, m, next, FromTime(o.Now())); err != nil {
			return fmt.Errorf("db: migration %04d_%s: %w", next.version, next.name, err)
		}
		o.Log.Info("database migrated", "version", next.version, "name", next.name)
	}
	return nil
}

// checkAlone returns an error while a server works on the database and the migration must not run then.
func checkAlone(ctx context.Context, m migrator, next migration) error {
	if !strings.HasSuffix(next.name, aloneSuffix) {
		return nil
	}
	if err := CheckUnused(&Tx{ctx: ctx, caller: ctx, conn: m}); err != nil {
		return fmt.Errorf("db: migration %04d_%s needs the database for itself: %w", next.version, next.name, err)
	}
	return nil
}

// readMigrations reads all migrations, in order. Files that do not end in .sql may lie next to them.
func readMigrations(files fs.FS) ([]migration, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	var list []migration
	for _, e := range entries {
		name, isFile := strings.CutSuffix(e.Name(), ".sql")
		if !isFile && !e.IsDir() {
			continue
		}
		number, rest, found := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if !found || err != nil || len(number) != 4 || version < 1 {
			return nil, fmt.Errorf("db: migration %q is not named NNNN_name", e.Name())
		}
		m := migration{version: version, name: rest}
		if err := m.read(files, e.Name()); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b migration) int { return int(a.version - b.version) })
	for i := 1; i < len(list); i++ {
		if list[i].version == list[i-1].version {
			return nil, fmt.Errorf("db: two migrations have the number %04d", list[i].version)
		}
	}
	return list, nil
}

// read reads the texts of a file, or of all files below a folder, in the order of their names.
func (m *migration) read(files fs.FS, root string) error {
	sum := sha256.New()
	err := fs.WalkDir(files, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		sum.Write(text)
		for _, engine := range [...]Engine{SQLite, PostgreSQL} {
			switch own := linesFor(engine, string(text)); {
			case path == root+"/takeover.sql":
				m.takeover[engine] = own
			case path == root || strings.HasPrefix(path, root+"/"+engine.String()+"/"):
				m.texts[engine] += own
			}
		}
		return nil
	})
	m.checksum = hex.EncodeToString(sum.Sum(nil))
	return err
}

func appliedMigrations(ctx context.Context, c conn) (map[int64]migration, error) {
	rows, err := c.query(ctx, `SELECT version, name, checksum FROM schema_migrations`, nil)
	if err != nil {
		return nil, err
	}
	applied := make(map[int64]migration)
	for rows.next() {
		var m migration
		if err := rows.scan([]any{&m.version, &m.name, &m.checksum}); err != nil {
			return nil, errors.Join(err, rows.close())
		}
		applied[m.version] = m
	}
	return applied, rows.close()
}

// checkMigrations refuses a database that this program does not understand.
func checkMigrations(known []migration, applied map[int64]migration) error {
	var newest int64
	byVersion := make(map[int64]migration, len(known))
	for _, k := range known {
		byVersion[k.version] = k
		newest = max(newest, k.version)
	}
	for _, a := range applied {
		k, found := byVersion[a.version]
		switch {
		case a.version > newest:
			return fmt.Errorf("db: the database is at version %d, this program knows versions up to %d: "+
				"it was used by a newer program, run that one", maxVersion(applied), newest)
		case !found:
			return fmt.Errorf("db: the database holds migration %04d_%s, which this program does not know",
				a.version, a.name)
		case k.checksum != a.checksum:
			return fmt.Errorf("db: migration %04d_%s was changed after the database applied it "+
				"(checksum %.12s there, %.12s here)", a.version, a.name, a.checksum, k.checksum)
		}
	}
	return nil
}

func maxVersion(applied map[int64]migration) (v int64) {
	for version := range applied {
		v = max(v, version)
	}
	return v
}

// linesFor leaves out of a migration what is meant for the other engine: the
// lines behind one that reads "-- sqlite" or "-- postgres", up to "-- both" or
// the end of the file. It is for what the engines write differently, such as a
// full-text index.
func linesFor(engine Engine, text string) string {
	var b strings.Builder
	in := true
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case "-- both":
			in = true
		case "-- " + SQLite.String():
			in = engine == SQLite
		case "-- " + PostgreSQL.String():
			in = engine == PostgreSQL
		default:
			if in {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

func applyMigration(ctx context.Context, m migrator, next migration, now Time) error {
	text := m.tokens().Replace(next.texts[m.engine()])
	if i := strings.Index(text, "{{"); i >= 0 {
		return fmt.Errorf("unknown token at %.20q", text[i:])
	}
	if err := m.begin(); err != nil {
		return err
	}
	err := m.script(ctx, text)
	if err == nil {
		err = record(ctx, m, next, now)
	}
	if err == nil {
		err = m.checkForeignKeys()
	}
	return m.finish(err)
}

func record(ctx context.Context, m migrator, applied migration, now Time) error {
	_, err := m.exec(ctx, `INSERT INTO schema_migrations (version, name, checksum, applied_at)
		VALUES ($1, $2, $3, $4)`, []any{applied.version, applied.name, applied.checksum, now})
	return err
}

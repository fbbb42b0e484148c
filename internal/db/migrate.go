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
	close() error
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

// aloneSuffix ends the name of a migration with which programs that do not know it cannot
// work: what they read goes, or what they write is no longer enough. It waits until none of
// them serves the database. All other migrations only add, so nodes of the version before go on.
const aloneSuffix = ".alone"

// migration is one file: its checksum is SHA-256 of its bytes, in hex.
type migration struct {
	version  int64
	name     string
	checksum string
	text     string
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
	if err := checkMigrations(known, applied); err != nil {
		return err
	}
	for _, next := range known {
		if _, done := applied[next.version]; done {
			continue
		}
		if strings.HasSuffix(next.name, aloneSuffix) {
			if err := CheckUnused(&Tx{ctx: ctx, caller: ctx, conn: m}); err != nil {
				return fmt.Errorf("db: migration %04d_%s needs the database for itself: %w", next.version,
					next.name, err)
			}
		}
		if err := applyMigration(ctx, m, next, FromTime(o.Now())); err != nil {
			return fmt.Errorf("db: migration %04d_%s: %w", next.version, next.name, err)
		}
		o.Log.Info("database migrated", "version", next.version, "name", next.name)
	}
	return nil
}

// readMigrations reads NNNN_name.sql files in order. Other files may lie
// beside them.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	var list []migration
	for _, name := range names {
		number, rest, found := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if !found || err != nil || len(number) != 4 || version < 1 {
			return nil, fmt.Errorf("db: migration %q is not named NNNN_name.sql", name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		list = append(list, migration{version, rest, hex.EncodeToString(sum[:]), string(text)})
	}
	slices.SortFunc(list, func(a, b migration) int { return int(a.version - b.version) })
	for i := 1; i < len(list); i++ {
		if list[i].version == list[i-1].version {
			return nil, fmt.Errorf("db: two migrations have the number %04d", list[i].version)
		}
	}
	return list, nil
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
// the end of the file. It is for what only one of them can say, such as a
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
	text := m.tokens().Replace(linesFor(m.engine(), next.text))
	if i := strings.Index(text, "{{"); i >= 0 {
		return fmt.Errorf("unknown token at %.20q", text[i:])
	}
	if err := m.begin(); err != nil {
		return err
	}
	err := m.script(ctx, text)
	if err == nil {
		_, err = m.exec(ctx, `INSERT INTO schema_migrations (version, name, checksum, applied_at)
			VALUES ($1, $2, $3, $4)`, []any{next.version, next.name, next.checksum, now})
	}
	if err == nil {
		err = m.checkForeignKeys()
	}
	return m.finish(err)
}

// Known lists the migrations that this program brings, in order: those that each database
// has applied that it opened.
func Known() ([]Version, error) {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	list, err := readMigrations(files)
	var known []Version
	for _, m := range list {
		known = append(known, Version{m.version, m.checksum})
	}
	return known, err
}

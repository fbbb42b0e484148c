package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// The schema has the tables that 64 migrations made before it. A database that has exactly these is taken
// over: takeover.sql of the schema runs on it. For an older one the last build that has them comes first.
const (
	lastSquashed = "0087_one_finder"
	// squashed is SHA-256, in hex, of a line with number and checksum for each of them.
	squashed = "29c7a9f8aecce96885834174f4d05b021e7841018b345dcc79e226530b2d8a7f"
)

// takeOver records the schema known[0] in place of the squashed migrations in a database, and returns it.
// It rejects an older database.
func takeOver(
	ctx context.Context, m migrator, o Options, known []migration, applied map[int64]migration,
) (map[int64]migration, error) {
	if len(known) == 0 {
		return applied, nil
	}
	versions := make([]Version, 0, len(applied))
	for _, number := range slices.Sorted(maps.Keys(applied)) {
		versions = append(versions, Version{number, applied[number].checksum})
	}
	schema := known[0]
	if !areSquashed(versions) {
		return applied, checkAge("db: the database", "Upgrade it", versions, schema.version)
	}
	if err := checkAlone(ctx, m, schema); err != nil {
		return nil, err
	}
	if err := m.begin(); err != nil {
		return nil, err
	}
	err := m.script(ctx, schema.takeover[m.engine()])
	if err == nil {
		_, err = m.exec(ctx, `DELETE FROM schema_migrations`, nil)
	}
	if err == nil {
		err = record(ctx, m, schema, FromTime(o.Now()))
	}
	if err := m.finish(err); err != nil {
		return nil, fmt.Errorf("db: take over the database: %w", err)
	}
	o.Log.Info("database taken over", "version", schema.version)
	return map[int64]migration{schema.version: schema}, nil
}

// areSquashed reports whether these are the squashed migrations, all of them and no others.
func areSquashed(list []Version) bool {
	sum := sha256.New()
	for _, v := range list {
		fmt.Fprintf(sum, "%04d %s\n", v.Number, v.Checksum)
	}
	return hex.EncodeToString(sum.Sum(nil)) == squashed
}

// checkAge refuses versions that are older than the schema. The error says of what, and how to begin.
func checkAge(what, begin string, list []Version, schema int64) error {
	if len(list) == 0 || list[0].Number >= schema {
		return nil
	}
	return fmt.Errorf("%s is too old for this program: it has %d migrations, the last is %04d. %s first "+
		"with the last build that has migration %s", what, len(list), list[len(list)-1].Number, begin,
		lastSquashed)
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

// CheckBackup returns an error unless the rows of a backup fit into a new database. list are the migrations
// of the database that was backed up.
func CheckBackup(list []Version) error {
	known, err := Known()
	if err != nil {
		return err
	}
	if areSquashed(list) {
		list = known[:1]
	}
	err = checkAge("the database of the backup", "Restore it with the build that made it, and upgrade that store",
		list, known[0].Number)
	if err != nil {
		return err
	}
	if !slices.Equal(list, known) {
		return fmt.Errorf("the backup is of another version of Arbor: its database has %d migrations, this "+
			"program has %d, and they must be the same. Restore it with the version that made it, and upgrade "+
			"that store", len(list), len(known))
	}
	return nil
}

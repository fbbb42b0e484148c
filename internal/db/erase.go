package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Erase removes all that a database holds, as if it had just been made: its next
// row of each table has the id 1. Nothing else may have it open. On PostgreSQL it
// happens or does not; of SQLite's files the log goes first, so that what is left
// by a process that ends meanwhile is the database as it was some commits ago.
func Erase(ctx context.Context, o Options) error {
	if !isPostgres(o.URL) {
		return removeSQLite(o.URL)
	}
	tables, err := tableNames()
	if err != nil {
		return err
	}
	b, err := newPostgres(o)
	if err != nil {
		return err
	}
	m, err := b.migrator(ctx)
	if err != nil {
		return errors.Join(err, b.close())
	}
	err = m.begin()
	if err == nil {
		err = m.finish(m.script(ctx, `TRUNCATE `+strings.Join(tables, `, `)+` RESTART IDENTITY`))
	}
	return errors.Join(err, m.close(), b.close())
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

func removeSQLite(file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for _, part := range [...]string{"-wal", "-shm", ""} {
		if err := os.Remove(path + part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+) \(`)

// tableNames are the tables of PostgreSQL that hold rows, but for those that tell
// which migrations were applied.
func tableNames() ([]string, error) {
	names := []string{"generations", "nodes"}
	files, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			return nil, err
		}
		for _, m := range createTable.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	if len(names) == 2 {
		return nil, fmt.Errorf("db: migrations make no tables")
	}
	return names, nil
}

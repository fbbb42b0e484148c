package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Erase removes everything from a database, as if it were new: the next row of each table gets id 1.
// Nothing else may have it open. On PostgreSQL it is atomic. On SQLite the log is removed first, so if the
// process dies in between, the database is left as it was some commits ago.
func Erase(ctx context.Context, o Options) error {
	if !isPostgres(o.URL) {
		return removeSQLite(o.URL)
	}
	b, err := newPostgres(o)
	if err != nil {
		return err
	}
	m, err := b.migrator(ctx)
	if err != nil {
		return errors.Join(err, b.close())
	}
	if err = m.begin(); err == nil {
		err = m.finish(m.script(ctx, eraseTables))
	}
	m.close()
	return errors.Join(err, b.close())
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

// eraseTables empties all tables but the one that says which migrations were applied.
const eraseTables = `DO $$ BEGIN
	EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
		FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_migrations');
END $$`

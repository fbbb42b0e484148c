package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Scrub removes deleted and overwritten data from the database's files, as far as this program can. On
// SQLite it checkpoints and truncates the log, which Options.SecureDelete needs to take effect; if whole is
// true, it also rewrites the file without remains of earlier deletions in free pages. Writes wait for it,
// some seconds per gigabyte. On PostgreSQL it vacuums the tables, or if whole is true rewrites and locks
// them; archives of its log are up to the operator.
//
// Error: ErrInUse if readers hold SQLite's log all the time.
func (d *DB) Scrub(ctx context.Context, whole bool) error { return d.backend.scrub(ctx, whole) }

// ErrInUse says that others were at work in the database, so that its log stays.
var ErrInUse = errors.New(
	"db: others read the database all the time, so its log still holds what was deleted")

// Size is how many bytes the file of a SQLite database takes; 0 on PostgreSQL.
func (d *DB) Size() int64 {
	b, ok := d.backend.(*sqliteBackend)
	if !ok {
		return 0
	}
	info, err := os.Stat(b.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (b *sqliteBackend) scrub(ctx context.Context, whole bool) error {
	c, err := b.openWriter()
	if err != nil {
		return err
	}
	defer c.close()
	if whole {
		err := poll(errBusy, func() error { return c.script("PRAGMA " + incremental + "; VACUUM") })
		if err != nil {
			return fmt.Errorf("db: rewrite the file: %w", err)
		}
	}
	for end := time.Now().Add(busyTimeout); ; {
		busy, err := c.checkpoint("TRUNCATE")
		if !busy {
			return nil
		}
		if err != nil && !errors.Is(err, errBusy) {
			return err
		}
		if time.Now().After(end) {
			return ErrInUse
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (b *postgresBackend) scrub(ctx context.Context, whole bool) error {
	m, err := b.migrator(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	statement := "VACUUM"
	if whole {
		statement = "VACUUM FULL"
	}
	// Those that may hold what was deleted; all would take long.
	for _, table := range []string{"review_comments", "statuses", "status_contexts", "status_commits",
		"check_suites", "check_runs", "check_annotations", "pull_commits", "unreached_objects",
		"pushed_commits", "refs"} {
		if err := m.script(ctx, statement+" "+table); err != nil {
			return err
		}
	}
	return nil
}

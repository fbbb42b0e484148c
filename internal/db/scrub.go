package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Scrub takes what was deleted or overwritten out of the database's files, as far as this
// program reaches them. Of SQLite the log is emptied into the file, which is what
// Options.SecureDelete needs to have its effect; whole also writes the file anew, without
// what earlier deletions left in its free places. Meanwhile nobody else writes, for some
// seconds a gigabyte. On PostgreSQL the tables are vacuumed, with whole rewritten, for which
// it locks them; its archives of the log are the operator's.
//
// Error: ErrInUse when readers hold the log of SQLite all the time.
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
		err := poll(errBusy, func() error { return c.script("VACUUM") })
		if err != nil {
			return fmt.Errorf("db: rewrite the file: %w", err)
		}
	}
	for end := time.Now().Add(busyTimeout); ; {
		emptied, err := c.emptyLog(ctx)
		if emptied {
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

// emptyLog copies SQLite's log into the file and empties it, unless readers are in it.
func (c *sqliteConn) emptyLog(ctx context.Context) (bool, error) {
	rows, err := c.query(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil)
	if err != nil {
		return false, err
	}
	busy, pages, copied := int64(1), int64(0), int64(0)
	if rows.next() {
		err = rows.scan([]any{&busy, &pages, &copied})
	}
	err = errors.Join(err, rows.close())
	return err == nil && busy == 0, err
}

func (b *postgresBackend) scrub(ctx context.Context, whole bool) error {
	m, err := b.migrator(ctx)
	if err != nil {
		return err
	}
	statement := "VACUUM"
	if whole {
		statement = "VACUUM FULL"
	}
	// Those that may hold what was deleted; all would take long.
	for _, table := range []string{"review_comments", "statuses", "status_contexts", "status_commits",
		"check_suites", "check_runs", "check_annotations", "pull_commits", "unreached_objects",
		"pushed_commits", "refs"} {
		if err = m.script(ctx, statement+" "+table); err != nil {
			break
		}
	}
	return errors.Join(err, m.close())
}

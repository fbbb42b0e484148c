package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxReaders  = 8                // unless Options.Connections says how many
	busyTimeout = 10 * time.Second // for another process's lock
	maxTries    = 4
)

// incremental allows a new file to return free pages to the disk, see Shrink. An older file gets it with VACUUM.
// SQLite writes when it is set again, so commands could not open a store on a full disk.
const incremental = "auto_vacuum=2"

// sqliteBackend is a database in a file: one writer, some readers.
type sqliteBackend struct {
	path    string
	writing []string // pragmas of a connection that writes
	log     *slog.Logger
	now     func() time.Time
	readers *sql.DB
	waiters waiters // for readers
	writers *sql.DB // opens connections whose commits are synced, and keeps none
	writer  *writer
	counter counter
	closed  atomic.Bool
	trace   func(ctx context.Context, query string) // may be nil
}

func newSQLite(o Options) (*sqliteBackend, error) {
	if o.URL == "" || strings.HasPrefix(o.URL, ":memory:") {
		return nil, errors.New("db: a SQLite database needs a file's path")
	}
	path, err := filepath.Abs(o.URL)
	if err != nil {
		return nil, err
	}
	turn, err := newTurnstile(path + "-turn")
	if err != nil {
		return nil, err
	}
	b := &sqliteBackend{path: path, log: o.Log, now: o.Now, trace: o.Trace}
	// Writers wait for each other in turnstile, not by SQLite's busy timeout.
	b.writing = []string{"journal_mode=WAL", "synchronous=FULL", "foreign_keys=1", "cache_size=-4096",
		"wal_autocheckpoint=2000", "journal_size_limit=16777216", // pages; bytes
		"busy_timeout=0"}
	if size, err := fileSize(path); err != nil || size == 0 {
		b.writing = append([]string{"page_size=2048", incremental}, b.writing...)
	}
	if o.SecureDelete {
		b.writing = append(b.writing, "secure_delete=1")
	}
	if o.Throwaway {
		b.writing = append(b.writing, "synchronous=OFF")
	}
	if b.readers, err = openSQLite(path, cmp.Or(o.Connections, maxReaders), reading(1024)...); err != nil {
		return nil, err
	}
	if b.writers, err = openSQLite(path, 0, b.writing...); err != nil {
		return nil, err
	}
	if b.counter.db, err = openSQLite(path, 0, reading(64)...); err != nil {
		return nil, err
	}
	b.writer = newWriter(b, turn)
	return b, nil
}

// reading are the pragmas of a connection that cannot write, with a page cache of the given size in KiB.
func reading(cacheKiB int) []string {
	return []string{fmt.Sprintf("cache_size=-%d", cacheKiB), "query_only=1"}
}

// openSQLite returns a pool of at most size connections. With size 0 it opens any number and keeps none.
func openSQLite(path string, size int, pragmas ...string) (*sql.DB, error) {
	c, err := newSQLiteConnector(path, pragmas...)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(cmp.Or(size, -1))
	pool.SetConnMaxIdleTime(keepIdle)
	return pool, nil
}

func openConn(ctx context.Context, from *sql.DB) (*sqliteConn, error) {
	c, err := from.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &sqliteConn{c}, nil
}

func (b *sqliteBackend) openWriter() (*sqliteConn, error) {
	return openConn(context.Background(), b.writers)
}

// acquire returns a connection that reads, to be released or closed.
func (b *sqliteBackend) acquire(ctx context.Context) (*sqliteConn, error) {
	c, err := wait(ctx, &b.waiters, func(ctx context.Context) (*sqliteConn, error) {
		return openConn(ctx, b.readers)
	})
	if err != nil && b.closed.Load() {
		return nil, errClosed
	}
	return c, err
}

// read runs fn between BEGIN and COMMIT: the snapshot is taken by the first
// statement, and held by the transaction.
func (b *sqliteBackend) read(ctx context.Context, fn func(*Tx) error, long bool) error {
	for try := 1; ; try++ {
		err := b.readOnce(ctx, fn, long)
		if !errors.Is(err, errBusy) {
			return err
		}
		if try == maxTries {
			return errOverload(err.Error())
		}
	}
}

func (b *sqliteBackend) readOne(ctx context.Context, fn func(*Tx) error) error {
	return b.read(ctx, fn, false)
}

func (b *sqliteBackend) readOnce(ctx context.Context, fn func(*Tx) error, long bool) error {
	c, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	returned := false
	defer func() { // also when fn panics
		if returned && c.control("COMMIT") == nil {
			c.release()
		} else {
			c.close()
		}
	}()
	if err := c.control("BEGIN"); err != nil {
		return err // and close the connection
	}
	tx := Tx{Now: FromTime(b.now()), ctx: context.Background(), caller: ctx, conn: c}
	if long {
		tx.ctx = ctx
	}
	err = tx.run(fn)
	returned = true
	return err
}

func (b *sqliteBackend) write(ctx context.Context, fn func(*Tx) error) error {
	return b.writer.write(ctx, fn)
}

func (b *sqliteBackend) answers(context.Context) error {
	return b.counter.use(func(c *sqliteConn) error {
		_, err := c.generation("probe")
		return err
	})
}

func (b *sqliteBackend) close() error {
	return b.writer.shut(func() {
		b.closed.Store(true)
		b.readers.Close()
		for b.readers.Stats().InUse > 0 { // the log can be folded when nobody reads it
			time.Sleep(time.Millisecond)
		}
		b.counter.close()
	})
}

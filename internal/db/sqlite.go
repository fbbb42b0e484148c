package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"arbor/internal/cache"
)

const (
	maxReaders  = 8                // unless Options.Connections says how many
	busyTimeout = 10 * time.Second // for another process's lock
	maxTries    = 4
)

// incremental allows a new file to shrink, see Shrink. An older file gets it by VACUUM.
const incremental = "auto_vacuum=2"

// sqliteBackend is a database in a file: one writer, some readers. It speaks
// to the driver's connections directly: what database/sql adds to a statement
// (locks, a context's goroutine, conversions by reflection) costs more than a
// small statement itself.
type sqliteBackend struct {
	path    string
	writing []string // pragmas of a connection that writes
	log     *slog.Logger
	now     func() time.Time
	readers *pool[*sqliteConn]
	writer  *writer
	counter counter
	trace   func(ctx context.Context, query string) // may be nil
	kept    *cache.Cache[string, int64]             // generations by topic
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
	kept := cache.NewCount[string, int64](maxNumbers)
	b := &sqliteBackend{path: path, log: o.Log, now: o.Now, trace: o.Trace, kept: kept, writing: []string{
		"page_size=2048", // bytes; says nothing to a file that is there
		incremental,
		"journal_mode=WAL", "synchronous=FULL", "foreign_keys=1", "cache_size=-4096",
		"wal_autocheckpoint=2000", "journal_size_limit=16777216", // pages; bytes
		"busy_timeout=0",
	}}
	if o.SecureDelete {
		b.writing = append(b.writing, "secure_delete=1")
	}
	if o.Throwaway {
		b.writing = append(b.writing, "synchronous=OFF")
	}
	closing := func(c *sqliteConn) { c.close() }
	b.readers = newPool(cmp.Or(o.Connections, maxReaders), b.openReader(1024), closing)
	b.counter.open = b.openReader(64)
	b.writer = newWriter(b, turn)
	return b, nil
}

// openReader returns a function that opens read-only connections with a page cache of the given size in
// KiB.
func (b *sqliteBackend) openReader(cacheKiB int) func(context.Context) (*sqliteConn, error) {
	return func(context.Context) (*sqliteConn, error) {
		return b.open(fmt.Sprintf("cache_size=-%d", cacheKiB), "query_only=1")
	}
}

// openWriter opens a connection with synced commits. It waits for other writers in turnstile and not with
// SQLite's busy timeout.
func (b *sqliteBackend) openWriter() (*sqliteConn, error) { return b.open(b.writing...) }

func (b *sqliteBackend) open(pragmas ...string) (*sqliteConn, error) {
	// The file is created with the lock's permissions, by SQLite alone: if we
	// closed it ourselves, SQLite's locks on it would be gone.
	lock := strings.ReplaceAll(url.QueryEscape(b.path+"-turn"), "+", "%20")
	name := (&url.URL{Scheme: "file", Path: b.path, RawQuery: "_dqs=0&_error_rc=1&modeof=" + lock}).String()
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(context.Background())
	if err != nil {
		return nil, fmt.Errorf("cannot open the database %s: %w", b.path, translateSQLite(err))
	}
	c := &sqliteConn{raw: raw, statements: make(map[string]*statement)}
	pragmas = append([]string{fmt.Sprintf("busy_timeout=%d", busyTimeout.Milliseconds())}, pragmas...)
	for _, p := range pragmas {
		if p == incremental { // SQLite writes it again, and commands could not open a store on a full disk
			if mode, err := c.number("PRAGMA auto_vacuum", nil); err == nil && mode == 2 {
				continue
			}
		}
		if err := c.pragma(p); err != nil {
			c.close()
			return nil, fmt.Errorf("cannot open the database %s: %w", b.path, err)
		}
	}
	return c, nil
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
	c, err := b.readers.get(ctx)
	if err != nil {
		return err
	}
	returned := false
	defer func() { // also when fn panics
		if returned && c.control("COMMIT") == nil {
			b.readers.put(c)
		} else {
			b.readers.drop(c)
		}
	}()
	if err := c.control("BEGIN"); err != nil {
		return err // and drop the connection
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

// logSize is what SQLite's log takes on disk, in bytes.
func (b *sqliteBackend) logSize() int64 {
	info, err := os.Stat(b.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

func (b *sqliteBackend) close() error {
	return b.writer.shut(func() {
		b.readers.shut()
		b.counter.close()
	})
}

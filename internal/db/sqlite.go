package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

const (
	maxReaders    = 8
	maxStatements = 160              // prepared, a connection
	busyTimeout   = 10 * time.Second // for another process's lock
	maxTries      = 4
)

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
	numbers *pool[*sqliteConn] // one connection, for generations
	writer  *writer
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
	b := &sqliteBackend{path: path, log: o.Log, now: o.Now, writing: []string{
		"journal_mode=WAL", "synchronous=FULL", "foreign_keys=1", "cache_size=-4096",
		"wal_autocheckpoint=1000", "journal_size_limit=16777216", // pages; bytes
		"busy_timeout=0",
	}}
	closing := func(c *sqliteConn) { c.close() }
	b.readers = newPool(maxReaders, b.openReader(1024), closing)
	b.numbers = newPool(1, b.openReader(64), closing)
	b.writer = newWriter(b, turn)
	return b, nil
}

// openReader makes connections that cannot write, with a page cache of the
// given size in KiB.
func (b *sqliteBackend) openReader(cacheKiB int) func(context.Context) (*sqliteConn, error) {
	return func(context.Context) (*sqliteConn, error) {
		return b.open(fmt.Sprintf("cache_size=-%d", cacheKiB), "query_only=1")
	}
}

// openWriter makes a connection whose commits are synced. It waits for other
// writers in turnstile, not by SQLite's busy timeout.
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
		return nil, fmt.Errorf("db: open %s: %w", b.path, translateSQLite(err))
	}
	c := &sqliteConn{raw: raw, statements: make(map[string]*statement)}
	pragmas = append([]string{fmt.Sprintf("busy_timeout=%d", busyTimeout.Milliseconds())}, pragmas...)
	for _, p := range pragmas {
		if err := c.pragma(p); err != nil {
			c.close()
			return nil, fmt.Errorf("db: open %s: %s: %w", b.path, p, err)
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

func (b *sqliteBackend) generations(ctx context.Context, into map[string]int64) error {
	c, err := b.numbers.get(ctx)
	if err != nil {
		return err
	}
	for topic := range into {
		for try := 1; ; try++ {
			if into[topic], err = c.generation(topic); !errors.Is(err, errBusy) {
				break
			}
			if try == maxTries {
				err = errOverload(err.Error())
				break
			}
		}
		if err != nil {
			b.numbers.drop(c)
			return err
		}
	}
	b.numbers.put(c)
	return nil
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
		b.numbers.shut()
	})
}

// sqliteConn is a driver's connection with its prepared statements.
type sqliteConn struct {
	raw        driver.Conn
	statements map[string]*statement
	args       []driver.NamedValue
	one        [1]driver.Value
}

// statement is prepared; changes says that it inserts, updates or deletes.
type statement struct {
	raw interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	changes bool
}

// prepare returns the statement of a query. No statement in use is thrown
// away: one runs at a time, and this is before it runs.
func (c *sqliteConn) prepare(query string) (*statement, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	raw, err := c.raw.Prepare(query)
	if err != nil {
		return nil, translateSQLite(err)
	}
	s := &statement{changes: changesRows(query)}
	var ok bool
	if s.raw, ok = raw.(interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}); !ok {
		return nil, errors.New("db: the driver's statements lack contexts")
	}
	if len(c.statements) >= maxStatements {
		for text, old := range c.statements { // any: maps begin anywhere
			old.raw.Close()
			delete(c.statements, text)
			break
		}
	}
	c.statements[query] = s
	return s, nil
}

// changesRows looks at a statement's first word: for other statements SQLite
// reports the number of the statement before.
func changesRows(query string) bool {
	word := strings.TrimLeft(query, " \t\r\n")
	if len(word) < 6 {
		return false
	}
	switch strings.ToUpper(word[:6]) {
	case "INSERT", "UPDATE", "DELETE":
		return true
	}
	return strings.EqualFold(word[:4], "WITH")
}

func (c *sqliteConn) bind(args []any) ([]driver.NamedValue, error) {
	c.args = c.args[:0]
	for i, a := range args {
		v, err := argument(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args, nil
}

func (c *sqliteConn) exec(ctx context.Context, query string, args []any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	bound, err := c.bind(args)
	if err != nil {
		return 0, err
	}
	result, err := s.raw.ExecContext(ctx, bound)
	clear(bound)
	if err != nil {
		return 0, translateSQLite(err)
	}
	if !s.changes {
		return 0, nil
	}
	return result.RowsAffected()
}

func (c *sqliteConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	bound, err := c.bind(args)
	if err != nil {
		return nil, err
	}
	rows, err := s.raw.QueryContext(ctx, bound)
	clear(bound)
	if err != nil {
		return nil, translateSQLite(err)
	}
	return &sqliteCursor{rows: rows, values: make([]driver.Value, len(rows.Columns()))}, nil
}

// control runs one of the statements that steer transactions.
func (c *sqliteConn) control(statement string) error {
	_, err := c.exec(context.Background(), statement, nil)
	return err
}

// script runs many statements.
func (c *sqliteConn) script(text string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return translateSQLite(err)
}

// pragma sets a connection's property. Switching to the log needs the file
// alone, and does not wait for the busy timeout by itself.
func (c *sqliteConn) pragma(p string) error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := c.script("PRAGMA " + p)
		if !errors.Is(err, errBusy) || time.Now().After(deadline) {
			return err
		}
	}
}

const selectGeneration = `SELECT value FROM generations WHERE topic = $1`

// generation reads a topic's number outside any transaction, so that it is
// the newest.
func (c *sqliteConn) generation(topic string) (int64, error) {
	s, err := c.prepare(selectGeneration)
	if err != nil {
		return 0, err
	}
	if err := checkText(topic); err != nil {
		return 0, err
	}
	c.args = append(c.args[:0], driver.NamedValue{Ordinal: 1, Value: topic})
	rows, err := s.raw.QueryContext(context.Background(), c.args)
	if err != nil {
		return 0, translateSQLite(err)
	}
	c.one[0] = int64(0)
	err = rows.Next(c.one[:])
	if closed := rows.Close(); err == nil || errors.Is(err, io.EOF) {
		err = closed
	}
	n, _ := c.one[0].(int64)
	return n, translateSQLite(err)
}

func (c *sqliteConn) close() error {
	for _, s := range c.statements {
		s.raw.Close()
	}
	c.statements = nil
	return translateSQLite(c.raw.Close())
}

// sqliteCursor reads a driver's rows.
type sqliteCursor struct {
	rows   driver.Rows
	values []driver.Value
	err    error
}

func (r *sqliteCursor) next() bool {
	err := r.rows.Next(r.values)
	if err == nil {
		return true
	}
	if !errors.Is(err, io.EOF) {
		r.err = translateSQLite(err)
	}
	return false
}

func (r *sqliteCursor) scan(dest []any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("db: Scan of %d columns into %d values", len(r.values), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r.values[i]); err != nil {
			return fmt.Errorf("db: column %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *sqliteCursor) close() error {
	err := r.rows.Close()
	if r.err == nil {
		r.err = translateSQLite(err)
	}
	return r.err
}

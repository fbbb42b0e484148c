package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// sqliteConnector opens connections for database/sql, which keep their statements prepared: database/sql
// prepares a statement for each use, which costs more than a small statement itself.
type sqliteConnector struct {
	driver.Connector
	path    string
	pragmas []string
}

func newSQLiteConnector(path string, pragmas ...string) (driver.Connector, error) {
	// The file is created with the lock's permissions, by SQLite alone: if we closed it ourselves, SQLite's
	// locks on it would be gone.
	options := url.Values{"_dqs": {"0"}, "_error_rc": {"1"}, "modeof": {path + "-turn"},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)}}
	query := strings.ReplaceAll(options.Encode(), "+", "%20") // SQLite takes a plus as it is
	c, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: path, RawQuery: query}).String())
	if err != nil {
		return nil, err
	}
	return sqliteConnector{c, path, pragmas}, nil
}

// Connect opens a connection and sets its properties in their order.
func (s sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	raw, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot open the database %s: %w", s.path, translateSQLite(err))
	}
	c := &preparedConn{Conn: raw, statements: map[string]statement{}}
	for _, p := range s.pragmas {
		// To switch to the log SQLite needs the file alone, and does not wait for that itself.
		err := poll(errBusy, func() error { return translateSQLite(c.script("PRAGMA " + p)) })
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("cannot open the database %s: %w", s.path, err)
		}
	}
	return c, nil
}

// maxStatements is how many prepared statements a connection keeps.
const maxStatements = 160

// preparedConn is the driver's connection with its prepared statements. One statement runs at a time.
type preparedConn struct {
	driver.Conn
	statements map[string]statement
}

// statement is what the driver prepares.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// prepare returns the statement of a query. No statement in use is thrown away: one runs at a time, and this is
// before it runs.
func (c *preparedConn) prepare(query string) (statement, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	raw, err := c.Conn.Prepare(blind(query))
	if err != nil {
		return nil, err
	}
	s, ok := raw.(statement)
	if !ok {
		return nil, errors.New("db: the driver's statements lack contexts")
	}
	if len(c.statements) >= maxStatements {
		for text, old := range c.statements { // any: maps begin anywhere
			old.Close()
			delete(c.statements, text)
			break
		}
	}
	c.statements[query] = s
	return s, nil
}

// blind hides from SQLite's planner what columns are compared with, by a plus that changes nothing. The
// planner would look whether an argument is 0 or 1, and parse and plan the statement again each time that this
// changes: each time that somebody else runs it after the first account or after nobody. The lookup of a
// repository took 0.7 ms so, in place of 2 µs.
func blind(query string) string { return strings.ReplaceAll(query, "= $", "= +$") }

func (c *preparedConn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args)
}

func (c *preparedConn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return sqliteRows{rows}, nil
}

// sqliteRows are the driver's rows, whose empty values are not NULL.
type sqliteRows struct{ driver.Rows }

func (r sqliteRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	for i, v := range dest {
		if b, ok := v.([]byte); ok && b == nil { // the driver's NULL is an untyped nil
			dest[i] = []byte{}
		}
	}
	return err
}

// script runs many statements, which are not kept.
func (c *preparedConn) script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// ResetSession and IsValid say whether the driver's connection can be used again.

func (c *preparedConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *preparedConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

func (c *preparedConn) Close() error {
	for _, s := range c.statements {
		s.Close()
	}
	c.statements = nil
	return c.Conn.Close()
}

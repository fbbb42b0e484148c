package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxStatements limits the prepared statements of a connection.
const maxStatements = 160

// sqliteConn is a driver's connection with its prepared statements.
type sqliteConn struct {
	raw        driver.Conn
	statements map[string]*statement
	args       []driver.NamedValue
	one        [1]driver.Value
}

// statement is a prepared statement. changes reports whether it inserts, updates or deletes.
type statement struct {
	raw interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	changes bool
}

// prepare returns the statement of a query. It cannot drop a statement in use: one runs at a time, and
// prepare is called before it runs.
func (c *sqliteConn) prepare(query string) (*statement, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	raw, err := c.raw.Prepare(blind(query))
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
		for text, old := range c.statements { // an arbitrary one: the order of maps is random
			old.raw.Close()
			delete(c.statements, text)
			break
		}
	}
	c.statements[query] = s
	return s, nil
}

// blind hides the values of comparisons from SQLite's planner with a plus sign that changes nothing. The
// planner would check whether an argument is 0 or 1, and prepare the statement again each time that this
// changes, as when it runs for the first account or anonymously. For a query of a repository that took a
// third of a millisecond.
func blind(query string) string { return strings.ReplaceAll(query, "= $", "= +$") }

// changesRows checks a statement's first word, because for other statements SQLite reports the number of
// the statement before.
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

func (c *sqliteConn) engine() Engine { return SQLite }

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

// control runs a statement that begins or ends a transaction.
func (c *sqliteConn) control(statement string) error {
	_, err := c.exec(context.Background(), statement, nil)
	return err
}

// script runs many statements.
func (c *sqliteConn) script(text string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return translateSQLite(err)
}

// pragma sets a property of a connection. Switching to the log needs exclusive access to the file and does
// not wait for the busy timeout itself.
func (c *sqliteConn) pragma(p string) error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := c.script("PRAGMA " + p)
		if !errors.Is(err, errBusy) || time.Now().After(deadline) {
			return err
		}
	}
}

const selectGeneration = `SELECT value FROM generations WHERE topic = $1`

// generation reads a topic's number outside a transaction, so that it is the newest.
func (c *sqliteConn) generation(topic string) (int64, error) {
	if err := checkText(topic); err != nil {
		return 0, err
	}
	c.args = append(c.args[:0], driver.NamedValue{Ordinal: 1, Value: topic})
	return c.number(selectGeneration, c.args)
}

// number reads one integer. It returns 0 if there is no row.
func (c *sqliteConn) number(query string, args []driver.NamedValue) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	rows, err := s.raw.QueryContext(context.Background(), args)
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
	if r.rows == nil {
		return r.err
	}
	err := r.rows.Close()
	r.rows = nil
	if r.err == nil {
		r.err = translateSQLite(err)
	}
	return r.err
}

package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
)

// sqliteConn is a connection in the hands of one goroutine.
type sqliteConn struct{ raw *sql.Conn }

func (c *sqliteConn) engine() Engine { return SQLite }

func (c *sqliteConn) exec(ctx context.Context, query string, args []any) (int64, error) {
	result, err := c.raw.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, translateSQLite(err)
	}
	if !changesRows(query) {
		return 0, nil
	}
	return result.RowsAffected()
}

// changesRows looks at a statement's first word: for other statements SQLite reports the number of the
// statement before.
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

func (c *sqliteConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	rows, err := c.raw.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, translateSQLite(err)
	}
	return sqliteCursor{rows}, nil
}

// control runs one of the statements that steer transactions.
func (c *sqliteConn) control(statement string) error {
	_, err := c.raw.ExecContext(context.Background(), statement)
	return translateSQLite(err)
}

// script runs many statements, which are not kept prepared.
func (c *sqliteConn) script(text string) error {
	err := c.raw.Raw(func(raw any) error { return raw.(*preparedConn).script(text) })
	return translateSQLite(err)
}

const selectGeneration = `SELECT value FROM generations WHERE topic = $1`

// generation reads a topic's number outside any transaction, so that it is the newest.
func (c *sqliteConn) generation(topic string) (int64, error) {
	if err := checkText(topic); err != nil {
		return 0, err
	}
	return c.number(selectGeneration, topic)
}

// number reads one integer, or returns 0 without a row.
func (c *sqliteConn) number(query string, args ...any) (n int64, err error) {
	err = c.raw.QueryRowContext(context.Background(), query, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, translateSQLite(err)
}

// checkpoint folds SQLite's log into the file in one of its modes (https://sqlite.org/wal.html#ckpt). busy says
// that readers or writers kept it from finishing.
func (c *sqliteConn) checkpoint(mode string) (busy bool, err error) {
	var pages, copied int64
	err = c.raw.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").
		Scan(&busy, &pages, &copied)
	return busy || err != nil, translateSQLite(err)
}

// release returns a usable connection to its pool.
func (c *sqliteConn) release() { _ = c.raw.Close() }

// close closes the connection in any state. It ignores the driver's error, since nobody could act on it.
func (c *sqliteConn) close() {
	_ = c.raw.Raw(func(any) error { return driver.ErrBadConn }) // database/sql closes such a one
}

// sqliteCursor reads rows.
type sqliteCursor struct{ rows *sql.Rows }

func (r sqliteCursor) next() bool { return r.rows.Next() }

func (r sqliteCursor) scan(dest []any) error { return r.rows.Scan(dest...) }

func (r sqliteCursor) close() error {
	return translateSQLite(errors.Join(r.rows.Err(), r.rows.Close()))
}

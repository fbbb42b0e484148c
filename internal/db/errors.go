package db

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"arbor/internal/errs"
)

// Sentinels for errors.Is. The wrapped cause names the constraint on
// PostgreSQL, and its columns ("accounts.login_folded") on SQLite.
var (
	ErrNoRows     = errors.New("db: no rows")
	ErrUnique     = errors.New("db: a unique constraint is violated")
	ErrForeignKey = errors.New("db: a foreign key is violated")
	// ErrOutcomeUnknown says that a transaction may be there, now or a little later.
	ErrOutcomeUnknown = errors.New("db: COMMIT failed, outcome unknown")
	// ErrText is a 422 wherever nobody says better: no bytes that a client
	// sends may end in a 5xx.
	ErrText error = errs.New(errs.Invalid, "text must be UTF-8 without NUL")
)

// Reasons to try again, for this package alone.
var (
	errBusy   = errors.New("db: locked by another process") // SQLite
	errLost   = errors.New("db: the shared transaction was lost")
	errSerial = errors.New("db: deadlock, serialization failure or a stray cancel request") // PostgreSQL
	errBroken = errors.New("db: the connection broke before a commit")                      // PostgreSQL
)

var errClosed = errs.New(errs.Unavailable, "the server is stopping")

func errOverload(what string) error {
	return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", errors.New("db: "+what))
}

// SQLite's result codes that mean something here. The primary code is the low
// byte.
func translateSQLite(err error) error {
	if err == nil {
		return nil
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
		sqlite3.SQLITE_CONSTRAINT_ROWID:
		return fmt.Errorf("%w: %w", ErrUnique, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: %w", ErrForeignKey, err)
	case sqlite3.SQLITE_IOERR_DELETE_NOENT: // another process, opening or closing, was faster
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", errBusy, err)
	case sqlite3.SQLITE_FULL:
		return errNoRoom(err)
	}
	return err
}

// errNoRoom is what a full disk makes of a write.
func errNoRoom(err error) error {
	return errs.Wrap(errs.NoRoom,
		"The disk of the database is full: nothing was written. Try again when there is room.", err)
}

// PostgreSQL's codes are documented in its manual's appendix A.
func translatePostgres(err error) error {
	if err == nil {
		return nil
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case "23505":
		return fmt.Errorf("%w: %s of %s: %w", ErrUnique, e.ConstraintName, e.TableName, err)
	case "23503":
		return fmt.Errorf("%w: %s of %s: %w", ErrForeignKey, e.ConstraintName, e.TableName, err)
	case "40001", "40P01":
		return fmt.Errorf("%w: %w", errSerial, err)
	// asked for by a client that is gone, of the statement before, or else the database's limit on time
	case "57014":
		if strings.Contains(e.Message, "user request") {
			return fmt.Errorf("%w: %w", errSerial, err)
		}
	case "0A000", "26000": // a cached statement met a table that a newer node migrated
		return fmt.Errorf("%w: %w", errSerial, err)
	case "22021", "22P05":
		return fmt.Errorf("%w: %w", ErrText, err)
	case "55P03", "53300":
		return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
	case "53100":
		return errNoRoom(err)
	case "57P01", "57P02", "57P03": // the server stops, crashed or starts
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if strings.HasPrefix(e.Code, "08") {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// fatal reports errors that a retry cannot cure: the disk is full or broken.
func fatal(err error) bool {
	switch primary(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

// primary is SQLite's primary result code; 0: the error is not SQLite's.
func primary(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

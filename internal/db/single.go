package db

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// WriteOne is [DB.Write] for a transaction of one statement, and returns the
// number of rows that it inserted, changed or deleted. It costs less: a caller
// who comes alone is spared the statements that begin and end a transaction, and
// those who come together share one without savepoints. It bumps nothing.
//
// Errors: those of Exec and of Write.
func (d *DB) WriteOne(ctx context.Context, query string, args ...any) (affected int64, err error) {
	if w, ok := d.backend.(oneWriter); ok {
		began := d.writes.begin()
		affected, done, err := w.writeOne(ctx, query, args)
		if !done {
			d.writes.underWay.Add(-1) // Write counts it
		} else {
			d.writes.end(began, err)
			if d.trace != nil {
				d.trace(ctx, query)
			}
			return affected, err
		}
	}
	err = d.Write(ctx, func(tx *Tx) (err error) {
		affected, err = tx.Exec(query, args...)
		return err
	})
	return affected, err
}

// oneWriter is a backend that can run a statement as a transaction of its own.
type oneWriter interface {
	// writeOne does it unless done is false: then nothing has happened.
	writeOne(ctx context.Context, query string, args []any) (affected int64, done bool, err error)
}

// single is a statement and the rows that it changed.
type single struct {
	query    string
	args     []any
	affected int64
}

func (b *sqliteBackend) writeOne(ctx context.Context, query string, args []any) (int64, bool, error) {
	return b.writer.one(ctx, &single{query: query, args: args})
}

// one runs a statement. A caller that comes alone runs it outside any transaction: SQLite
// commits it by itself. Of those who come together one runs the statements of
// all in one transaction: a statement that fails leaves no trace by itself, so
// none needs a savepoint, and nobody is woken before what is his is durable.
//
// When the transaction was lost, or another process writes just now, nothing
// has happened: write knows how to wait, and how to try again.
func (w *writer) one(ctx context.Context, s *single) (affected int64, done bool, err error) {
	m := newMember(false, s)
	defer m.free()
	baton, err := w.enter(ctx, m)
	if baton {
		if w.alone() {
			defer w.pass()
			return w.autocommit(s)
		}
		if err = w.join(); err == nil {
			w.take(m)
		}
		w.pass()
		if err == nil {
			err = <-m.outcome
		}
	}
	if errors.Is(err, errLost) || errors.Is(err, errBusy) {
		return 0, false, nil
	}
	return s.affected, true, err
}

// alone says that nobody waits for the baton, and nobody did lately.
func (w *writer) alone() bool {
	if w.begun || w.crowd > 1 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) == 0
}

// join begins a transaction unless one is open that can be shared.
func (w *writer) join() error {
	if w.begun && w.solo {
		w.commit()
	}
	w.solo = false
	if w.begun {
		return nil
	}
	return w.begin(true)
}

// take runs the statement of a member in the open transaction.
func (w *writer) take(m *member) {
	var err error
	m.single.affected, err = w.conn.exec(context.Background(), m.single.query, m.single.args)
	switch {
	case err == nil:
		w.done = append(w.done, m)
	case harmless(err):
		m.outcome <- err
	default:
		m.outcome <- w.lose(err)
	}
}

// harmless says that a statement failed without a trace, and that all before it
// in the transaction is still there: it never ran, or it met a constraint.
func harmless(err error) bool {
	var e *sqlite.Error
	return !errors.As(err, &e) || e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

// autocommit runs a statement as a transaction of its own.
func (w *writer) autocommit(s *single) (affected int64, done bool, err error) {
	if w.conn == nil {
		c, err := w.backend.openWriter()
		if err != nil {
			return 0, true, err
		}
		w.conn, w.others = c, 0
	}
	if w.turn.try() != nil {
		return 0, false, nil
	}
	from := w.backend.state()
	affected, err = w.conn.exec(context.Background(), s.query, s.args)
	w.turn.leave()
	if errors.Is(err, errBusy) {
		return 0, false, nil
	}
	if err == nil {
		w.carry(from, nil)
		w.boundLog()
	}
	return affected, true, err
}

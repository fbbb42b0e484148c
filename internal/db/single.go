package db

import (
	"context"
	"errors"
)

// WriteOne is [DB.Write] for a transaction of one statement, and returns the
// number of rows that it inserted, changed or deleted. A caller who comes alone
// is spared the statements that begin and end a transaction; those who come
// together share one as always. It bumps nothing.
//
// Errors: those of Exec and of Write.
func (d *DB) WriteOne(ctx context.Context, query string, args ...any) (affected int64, err error) {
	if w, ok := d.backend.(oneWriter); ok {
		if affected, done, err := w.writeOne(ctx, query, args); done {
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

func (b *sqliteBackend) writeOne(ctx context.Context, query string, args []any) (int64, bool, error) {
	return b.writer.single(ctx, query, args)
}

// single runs a statement outside any transaction, for a caller who finds nobody
// at work: SQLite commits it by itself. It does nothing when others are there,
// who would have to wait for its sync, or when another process writes.
func (w *writer) single(ctx context.Context, query string, args []any) (affected int64, done bool, err error) {
	w.mu.Lock()
	if w.closed || w.busy || ctx.Err() != nil {
		w.mu.Unlock()
		return 0, false, nil
	}
	w.busy = true
	w.mu.Unlock()
	defer w.pass()
	if w.conn == nil {
		c, err := w.backend.openWriter()
		if err != nil {
			return 0, true, err
		}
		w.conn = c
	}
	if tryLock(w.turn.file) != nil {
		return 0, false, nil
	}
	from, _ := w.backend.stamp()
	affected, err = w.conn.exec(context.Background(), query, args)
	w.turn.leave()
	if errors.Is(err, errBusy) {
		return 0, false, nil
	}
	if err == nil {
		if to, ok := w.backend.stamp(); ok && to.follows(from) {
			w.backend.kept.move(from, to, nil)
		}
		w.boundLog()
	}
	return affected, true, err
}

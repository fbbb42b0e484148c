package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// WriteInTurn is [DB.Write] for a function that begins with a lock for which others wait, too; the key names
// it. On PostgreSQL those of this process wait here for their turn, first come first served: many that wait
// for one row there cost each other several times what they do, since each change of the row wakes them.
// Those who wait share one transaction with the one whose turn it is, each with a savepoint, so that they
// share its commit and the disk's sync. The lock stays what keeps writers apart, since other processes and
// transactions take it. SQLite's only writer has such a queue for all.
//
// Errors: those of Write. A call inside a Write is a mistake, as a Write is.
func (d *DB) WriteInTurn(ctx context.Context, key any, fn func(*Tx) error) (err error) {
	b, ok := d.backend.(*postgresBackend)
	if !ok {
		return d.Write(ctx, fn)
	}
	began := d.writes.begin()
	defer func() { d.writes.end(began, err) }()
	defer forget(ctx)
	return d.transact(checked(ctx, fn), (*Tx).twice, func(fn func(*Tx) error) error {
		return b.writeInTurn(ctx, key, fn)
	})
}

// maxParts is how many share a transaction at most: PostgreSQL keeps so many savepoints at hand, and some
// more.
const maxParts = 32

// lines are those who have a turn or wait for one, by key.
type lines struct {
	mu sync.Mutex
	of map[any]*line

	// after which a shared transaction takes no more parts; maxBatchTime but in a test
	batchTime time.Duration
}

// line is there as long as somebody has the turn.
type line struct {
	queue []chan struct{} // under lines.mu: those who wait
	open  *sharedWrite    // of the one who has the turn; nil: none is open
}

// sharedWrite is a transaction of several callers.
type sharedWrite struct {
	conn  *postgresConn
	began time.Time
	done  []chan error // those whose parts it holds, who wait for the commit
	last  bool         // there will be no further part
}

// writeInTurn writes a part of a shared transaction. Where that is lost, fn runs again by itself.
func (b *postgresBackend) writeInTurn(ctx context.Context, key any, fn func(*Tx) error) error {
	l, err := b.enter(ctx, key)
	if err != nil {
		return err
	}
	outcome := make(chan error, 1)
	if err = b.part(ctx, key, l, fn, outcome); err == nil {
		err = <-outcome
	}
	if errors.Is(err, errLost) || errors.Is(err, errSerial) || errors.Is(err, errBroken) {
		return b.write(ctx, fn)
	}
	return err
}

// enter returns when it is the caller's turn. Errors: ctx's, errs.Unavailable.
func (b *postgresBackend) enter(ctx context.Context, key any) (*line, error) {
	b.lines.mu.Lock()
	l := b.lines.of[key]
	if l == nil {
		l = &line{}
		b.lines.of[key] = l
		b.lines.mu.Unlock()
		return l, nil
	}
	if len(l.queue) >= maxWaiting {
		b.lines.mu.Unlock()
		return nil, errOverload("too many wait to write")
	}
	turn := make(chan struct{}, 1)
	l.queue = append(l.queue, turn)
	b.lines.mu.Unlock()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	var err error
	select {
	case <-turn:
		return l, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errOverload("the turn to write did not come; is there a Write inside a Write?")
	}
	b.lines.mu.Lock()
	at := slices.Index(l.queue, turn)
	if at >= 0 {
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	b.lines.mu.Unlock()
	if at < 0 { // the turn came at the same moment
		b.pass(key, l)
	}
	return nil, err
}

// pass gives the turn to the next one, after a commit unless that one goes on in the open transaction.
func (b *postgresBackend) pass(key any, l *line) {
	for {
		b.lines.mu.Lock()
		waits := len(l.queue) > 0
		if l.open == nil || waits && !l.open.ends(b.lines.batchTime) {
			if waits {
				l.queue[0] <- struct{}{}
				l.queue = slices.Delete(l.queue, 0, 1)
			} else {
				delete(b.lines.of, key)
			}
			b.lines.mu.Unlock()
			return
		}
		b.lines.mu.Unlock()
		b.end(l)
	}
}

func (s *sharedWrite) ends(after time.Duration) bool {
	return s.last || len(s.conn.queue) > 0 || len(s.done) >= maxParts || time.Since(s.began) > after
}

// A part that is undone leaves no savepoint: one that fails before its own is there would find that one, and
// take back what others wrote since.
const (
	partBegins = "SAVEPOINT part"
	partEnds   = "RELEASE SAVEPOINT part"
	partUndone = "ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part"
)

// part runs fn in the shared transaction and passes the turn, also when fn panics. Without an error, what
// comes of it comes through outcome.
func (b *postgresBackend) part(
	ctx context.Context, key any, l *line, fn func(*Tx) error, outcome chan error,
) (err error) {
	defer b.pass(key, l)
	if err := ctx.Err(); err != nil {
		return err
	}
	// A part that has begun goes on although its client hangs up: to stop its statement takes a tenth of a
	// second, for which all others of the line would wait.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWait)
	defer cancel()
	s := l.open
	if s == nil {
		if s, err = b.begin(ctx); err != nil {
			return err
		}
		l.open = s
	} else {
		s.conn.queue = append(s.conn.queue, queued{query: partBegins})
		s.conn.forget()
	}
	whole := false
	defer func() {
		if !whole {
			b.undo(ctx, l)
		}
	}()
	tx := Tx{Now: FromTime(b.now()), ctx: ctx, caller: ctx, conn: s.conn}
	if err = tx.run(fn); err == nil {
		// Rows of generations are written in one order, so nothing follows them.
		s.last = len(tx.bumps) > 0
		err = tx.fail(b.flush(ctx, l))
	}
	if err != nil {
		if tx.failed != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return s.conn.broken(ctx, err)
	}
	whole = true
	s.done = append(s.done, outcome)
	return nil
}

// begin takes a connection for a shared transaction.
func (b *postgresBackend) begin(ctx context.Context) (*sharedWrite, error) {
	c, err := b.conns.get(ctx)
	if err != nil {
		return nil, err
	}
	c.open = false
	c.queue = append(c.queue[:0], queued{query: beginWrite})
	c.forget()
	return &sharedWrite{conn: c, began: time.Now()}, nil
}

// flush sends what is left of a part where another part is about to follow. Else that goes with the commit.
func (b *postgresBackend) flush(ctx context.Context, l *line) error {
	b.lines.mu.Lock()
	follows := len(l.queue) > 0
	b.lines.mu.Unlock()
	c := l.open.conn
	if len(l.open.done) > 0 {
		c.queue = append(c.queue, queued{query: partEnds})
	}
	if !follows || l.open.last || len(c.queue) == 0 {
		return nil
	}
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	tag, err := c.run(ctx, last.query, last.args)
	c.open = true
	if err == nil && last.affected != nil {
		last.affected(tag.RowsAffected())
	}
	return translatePostgres(err)
}

// undo takes the last part back, which failed. Where that cannot be, those before it are lost, too.
func (b *postgresBackend) undo(ctx context.Context, l *line) {
	s, c := l.open, l.open.conn
	unsent := len(c.queue) > 0 && c.queue[0].query == partBegins
	c.queue = c.queue[:0]
	c.forget()
	switch {
	case len(s.done) == 0:
		b.giveBack(ctx, l, c.open)
	case !unsent && c.control(ctx, partUndone) != nil:
		b.giveBack(ctx, l, true)
		for _, outcome := range s.done {
			outcome <- errLost
		}
	}
}

// end commits the shared transaction, and tells those whose parts it holds.
func (b *postgresBackend) end(l *line) {
	s := l.open
	ctx := context.Background()
	err := s.conn.commit(ctx)
	b.giveBack(ctx, l, errors.Is(err, errNotEnded))
	if err != nil && len(s.done) > 1 && !errors.Is(err, ErrOutcomeUnknown) {
		err = errLost // by one of them
	}
	for _, outcome := range s.done {
		outcome <- err
	}
}

// giveBack gives the connection of a shared transaction back, after a rollback if it is still open.
func (b *postgresBackend) giveBack(ctx context.Context, l *line, open bool) {
	c := l.open.conn
	l.open = nil
	c.queue = c.queue[:0]
	if open && c.control(ctx, "ROLLBACK") != nil || c.raw.IsClosed() {
		b.conns.drop(c)
	} else {
		b.conns.put(c)
	}
}

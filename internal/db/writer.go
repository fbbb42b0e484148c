package db

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"arbor/internal/errs"
)

const (
	maxBatch     = 256                   // members of a shared transaction
	maxBatchTime = 20 * time.Millisecond // after which a shared transaction takes no more members
)

// member is a caller of write, for one attempt.
type member struct {
	solo    bool          // not to share a transaction
	baton   chan struct{} // its turn has come
	outcome chan error    // of the commit that it waits for
	given   bool          // under writer.mu: the baton was given to it
}

// writer is the one connection that writes, and the queue for it.
//
// Callers pass the connection on like a baton: the one that has it runs its function in
// its own goroutine (a panic goes where it belongs), then gives it to the next
// in the queue. While the queue holds somebody, nobody commits; the last one
// (or the one who finds the batch full) commits for all and tells them. So
// one sync makes a whole queue durable, and a caller that comes alone waits for nobody.
//
// The first member of a batch needs no savepoint: if it fails, the transaction
// is rolled back whole. The others roll back to theirs.
type writer struct {
	backend   *sqliteBackend
	turn      *turnstile
	batchTime time.Duration // maxBatchTime but in a test

	// These belong to the caller that holds the baton.
	conn    *sqliteConn // nil: to be opened
	begun   bool        // a transaction is open
	started time.Time   // when it began
	solo    bool        // its only member runs alone
	done    []*member   // whose changes it holds
	commits int
	crowd   int // members of the last batch

	mu     sync.Mutex
	busy   bool // somebody holds the baton
	queue  []*member
	closed bool
	idle   chan struct{} // made by shut: closed when nobody holds the baton
}

func newWriter(b *sqliteBackend, turn *turnstile) *writer {
	return &writer{backend: b, turn: turn, batchTime: maxBatchTime}
}

// write runs fn until the transaction that holds it is committed or its own
// failure is known. What happened to neighbours is never its error.
func (w *writer) write(ctx context.Context, fn func(*Tx) error) error {
	started := time.Now()
	for try := 1; ; try++ {
		err := w.attempt(ctx, fn, try > 1)
		if !errors.Is(err, errLost) && !errors.Is(err, errBusy) {
			return err
		}
		if try == maxTries || time.Since(started) > busyTimeout/2 {
			return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
		}
		w.backend.log.WarnContext(ctx, "write runs again", "try", try, "error", err)
	}
}

// attempt gets the baton, runs fn, hands the baton on and waits for the commit.
func (w *writer) attempt(ctx context.Context, fn func(*Tx) error, solo bool) error {
	m := &member{solo: solo, baton: make(chan struct{}, 1), outcome: make(chan error, 1)}
	err := w.enter(ctx, m)
	if err != nil {
		return err
	}
	if err = ctx.Err(); err == nil {
		err = w.run(m, fn)
	}
	w.pass()
	if err == nil {
		err = <-m.outcome
	}
	return err
}

// enter returns when the member has the baton. Errors: ctx's, errs.Unavailable.
func (w *writer) enter(ctx context.Context, m *member) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return errClosed
	case !w.busy:
		w.busy = true
		w.mu.Unlock()
		return nil
	case len(w.queue) >= maxWaiting:
		w.mu.Unlock()
		return errOverload("too many wait to write")
	}
	w.queue = append(w.queue, m)
	w.mu.Unlock()

	late := time.NewTimer(maxWait)
	defer late.Stop()
	select {
	case <-m.baton:
		return nil
	case <-ctx.Done():
		return w.leave(m, ctx.Err())
	case <-late.C:
		return w.leave(m, errOverload("the turn to write did not come; is there a Write inside a Write?"))
	}
}

// leave removes the member from the queue. If it has just received the baton, leave passes it on.
func (w *writer) leave(m *member, reason error) error {
	w.mu.Lock()
	given := m.given
	if !given {
		at := slices.Index(w.queue, m)
		w.queue = slices.Delete(w.queue, at, at+1)
	}
	w.mu.Unlock()
	if given {
		<-m.baton
		w.pass()
	}
	return reason
}

// pass hands the baton to the next member of the queue. It commits first if the batch ends here.
func (w *writer) pass() {
	w.mu.Lock()
	if w.begun && !w.solo && !w.full() && len(w.queue) == 0 && len(w.done) < w.crowd {
		w.mu.Unlock()
		runtime.Gosched() // those who came together last time are about to come again: let them
		w.mu.Lock()
	}
	if w.begun && (len(w.queue) == 0 || w.full()) {
		w.mu.Unlock()
		w.commit()
		w.mu.Lock()
	}
	if len(w.queue) > 0 {
		w.next().baton <- struct{}{}
		w.mu.Unlock()
		return
	}
	w.busy = false
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	w.mu.Unlock()
}

// next takes the first of the queue, with writer.mu held.
func (w *writer) next() *member {
	m := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	m.given = true
	return m
}

// run begins what is needed and runs fn. After an error nothing of fn is left.
// A panic passes through, with fn undone and the baton handed on.
func (w *writer) run(m *member, fn func(*Tx) error) (err error) {
	if w.begun && (m.solo || w.solo) {
		w.commit()
	}
	first := !w.begun
	if err := w.begin(first); err != nil {
		return err
	}
	w.solo = m.solo
	returned := false
	defer func() {
		if !returned {
			w.undo(first)
			w.pass()
		}
	}()
	ctx := context.Background() // a stopped statement would roll the neighbours back
	tx := Tx{Now: FromTime(w.backend.now()), ctx: ctx, caller: ctx, conn: w.conn}
	err = tx.run(fn)
	returned = true
	if err == nil && !first {
		if err = w.conn.control("RELEASE member"); err != nil {
			err = w.lose(err)
		}
	}
	if err != nil {
		w.undo(first)
		return err
	}
	w.done = append(w.done, m)
	return nil
}

// begin opens the transaction, or a savepoint in it.
func (w *writer) begin(first bool) error {
	if !first {
		if err := w.conn.control("SAVEPOINT member"); err != nil {
			return w.lose(err)
		}
		return nil
	}
	if w.conn == nil {
		c, err := w.backend.openWriter()
		if err != nil {
			return err
		}
		w.conn = c
	}
	err := w.turn.lock(w.conn)
	if err == nil {
		w.begun, w.started = true, time.Now()
		return nil
	}
	if !errors.Is(err, errBusy) {
		w.discard() // in any state
	}
	return err
}

// undo takes back what a failed function did.
func (w *writer) undo(first bool) {
	if !w.begun {
		return
	}
	if first {
		w.rollback()
		return
	}
	err := w.conn.control("ROLLBACK TO member")
	if err == nil {
		err = w.conn.control("RELEASE member")
	}
	if err != nil { // SQLite rolled everything back: a full disk, for one
		w.lose(err)
	}
}

// rollback ends the transaction without a trace.
func (w *writer) rollback() {
	w.begun = false
	if w.conn.control("ROLLBACK") != nil {
		w.discard()
	}
}

// discard closes the connection, which rolls back; the next begin opens one.
func (w *writer) discard() {
	w.begun = false
	w.conn.close()
	w.conn = nil
}

// lose rolls the shared transaction back and lets its members run again, each
// alone. It returns the error for the caller that noticed.
func (w *writer) lose(cause error) error {
	if w.begun {
		w.rollback()
	}
	err := fmt.Errorf("%w: %w", errLost, cause)
	w.tell(err)
	return err
}

func (w *writer) tell(err error) {
	for i, m := range w.done {
		m.outcome <- err
		w.done[i] = nil
	}
	w.done = w.done[:0]
}

// commit makes the batch durable and notifies its members.
func (w *writer) commit() {
	if !w.begun {
		return
	}
	if len(w.done) == 0 {
		w.rollback()
		return
	}
	err := w.conn.control("COMMIT")
	w.crowd = len(w.done)
	if err == nil {
		w.begun = false
		w.tell(nil)
		w.boundLog()
		return
	}
	w.rollback()
	switch {
	case len(w.done) > 1 && !fatal(err): // a deferred foreign key: whose, is not known
		err = fmt.Errorf("%w: %w", errLost, err)
	case primary(err) == sqlite3.SQLITE_IOERR: // a crash before the next commit may find it in the log
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	w.tell(err)
}

// full reports whether the batch accepts no more members.
func (w *writer) full() bool {
	return len(w.done) >= maxBatch || w.begun && time.Since(w.started) > w.batchTime
}

// shut lets the queue finish, refuses more, closes the readers and then the
// connection, which folds the log into the file.
func (w *writer) shut(closeReaders func()) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	var idle chan struct{}
	if w.busy {
		idle = make(chan struct{})
		w.idle = idle
	}
	w.mu.Unlock()
	if idle != nil {
		<-idle
	}
	closeReaders()
	w.turn.close()
	if w.conn == nil {
		return nil
	}
	var err error
	if w.commits > 0 {
		_, err = w.conn.checkpoint("TRUNCATE")
	}
	w.conn.close()
	return errors.Join(err, w.backend.writers.Close())
}

package db

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Tx is a transaction. Only its function uses it, in one goroutine, and it ends with the function.
type Tx struct {
	Now Time // when the transaction began, the same for everything in it

	// A Tx is one call's extent and cannot outlive it, so it may carry the
	// call's context; a parameter on every statement would invite another one.
	ctx    context.Context // for the engine: may interrupt a statement
	caller context.Context // checked between statements and rows
	values context.Context // of a Write: for Value
	conn   conn
	failed error                                   // the first statement's failure: the transaction is lost
	rows   *Rows                                   // open, at most one
	bumps  []string                                // topics, sorted, to be stored at the end
	single bool                                    // only one statement may run
	ran    bool                                    // a statement ran
	trace  func(ctx context.Context, query string) // may be nil
	bells  *bells

	right        Right             // checked at the end, see WriteAs; may be nil
	beforeCommit []func(*Tx) error // run after that, see BeforeCommit
	mayRegister  bool              // SendThen sent a statement whose result may append to last
	onCommit     []func()          // run after the commit
	own          map[any]any       // see Attach
	parts        *sync.Map         // see DB.Attach; nil: there are none
}

// conn is a connection as Tx needs it, used by one goroutine at a time.
// Its arguments come from bind; it translates errors.
type conn interface {
	exec(ctx context.Context, query string, args []any) (affected int64, err error)
	query(ctx context.Context, query string, args []any) (cursor, error)
	engine() Engine
}

// sender is a conn on which statements can wait for the next one, and go to the server together with it.
type sender interface {
	send(queued)
	flush(ctx context.Context) error
}

// cursor is a result being read. close may be called more than once, and
// returns the error that ended the reading, if any.
type cursor interface {
	next() bool
	scan(dest []any) error
	close() error
}

var (
	errRowsOpen = errors.New("db: a statement while rows are open")
	errTxDone   = errors.New("db: a transaction used after its end")
	errNotOne   = errors.New("db: a second statement in ReadOne")
)

// ready returns an error if a statement cannot run.
func (t *Tx) ready() error {
	switch {
	case t.failed != nil:
		return t.failed
	case t.conn == nil:
		return errTxDone
	case t.rows != nil:
		return t.fail(errRowsOpen)
	case t.single && t.ran:
		return t.fail(errNotOne)
	}
	t.ran = true
	return t.canceled()
}

func (t *Tx) canceled() error {
	if err := t.caller.Err(); err != nil {
		return t.fail(err)
	}
	return nil
}

func (t *Tx) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// Engine returns which engine runs the transaction, as [DB.Engine] does.
func (t *Tx) Engine() Engine { return t.conn.engine() }

// Value returns the value of a key in the context of the Write that began the transaction. It returns nil
// in a Read.
func (t *Tx) Value(key any) any {
	if t.values == nil {
		return nil
	}
	return t.values.Value(key)
}

// Exec runs a statement that returns no rows. It returns the number of rows that the statement inserted,
// changed or deleted: 0 for anything but INSERT, UPDATE and DELETE. Rows deleted by a foreign key's cascade
// do not count.
func (t *Tx) Exec(query string, args ...any) (affected int64, err error) {
	bound, err := t.prepare(query, args)
	if err != nil {
		return 0, err
	}
	if affected, err = t.conn.exec(t.ctx, query, bound); err != nil {
		return 0, t.fail(err)
	}
	return affected, nil
}

// Run is Exec for callers that do not need the number of rows.
func (t *Tx) Run(query string, args ...any) error {
	_, err := t.Exec(query, args...)
	return err
}

// Send is like Run, for a statement whose result the caller does not need. With PostgreSQL, the statement is sent
// together with the transaction's next statement, in one round trip. So its error is returned by the next statement
// or by the transaction, and never is one of the sentinel errors. Use Send in transactions that hold locks others
// wait for.
func (t *Tx) Send(query string, args ...any) error { return t.send(query, nil, args) }

func (t *Tx) send(query string, then func(affected int64), args []any) error {
	s, ok := t.conn.(sender)
	if !ok {
		n, err := t.Exec(query, args...)
		if err == nil && then != nil {
			then(n)
		}
		return err
	}
	bound, err := t.prepare(query, args)
	if err == nil {
		s.send(queued{query: query, args: bound, then: then})
	}
	return err
}

// SendEach is like QueryEach, for rows that the caller does not need before its next statement that is not sent
// with Send. PostgreSQL gets both statements together, as with Send; each is called before the second statement
// returns. An error of each becomes the error of the transaction.
func (t *Tx) SendEach(each func(Scanner) error, query string, args ...any) error {
	s, ok := t.conn.(sender)
	if !ok {
		err := QueryEach(t, each, query, args...)
		if err != nil {
			t.fail(err)
		}
		return err
	}
	bound, err := t.prepare(query, args)
	if err == nil {
		s.send(queued{query: query, args: bound, each: each})
	}
	return err
}

// prepare checks that a statement can run, and returns its arguments for the engine.
func (t *Tx) prepare(query string, args []any) ([]any, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	if t.trace != nil {
		ctx := t.caller
		if t.values != nil { // a write: SQLite runs it without its caller's context
			ctx = t.values
		}
		t.trace(ctx, query)
	}
	bound, err := bind(args)
	if err != nil {
		return nil, t.fail(err)
	}
	return bound, nil
}

// Flush waits for what was sent. Errors: those of the statements.
func (t *Tx) Flush() error {
	s, ok := t.conn.(sender)
	if !ok || !t.ran || t.failed != nil {
		return t.failed
	}
	if err := s.flush(t.ctx); err != nil {
		return t.fail(err)
	}
	return nil
}

// SendRing is like Send. If the statement changes rows, it also rings the topic's bell after the commit.
func (t *Tx) SendRing(topic, query string, args ...any) error {
	return t.send(query, func(n int64) {
		if n > 0 {
			t.Ring(topic)
		}
	}, args)
}

// SendThen is like SendRing. If the statement changes rows, it also registers then with BeforeCommit.
func (t *Tx) SendThen(topic, query string, then func(*Tx) error, args ...any) error {
	t.mayRegister = true
	return t.send(query, func(n int64) {
		if n > 0 {
			t.Ring(topic)
			t.BeforeCommit(then)
		}
	}, args)
}

// Query runs a statement that returns rows. The rows must be read to their
// end or closed before the next statement.
func (t *Tx) Query(query string, args ...any) (*Rows, error) {
	bound, err := t.prepare(query, args)
	if err != nil {
		return nil, err
	}
	c, err := t.conn.query(t.ctx, query, bound)
	if err != nil {
		return nil, t.fail(err)
	}
	t.rows = &Rows{tx: t, cursor: c}
	return t.rows, nil
}

// QueryRow runs a statement and returns its first row. Errors are returned by Scan, which must be called.
func (t *Tx) QueryRow(query string, args ...any) *Row {
	rows, err := t.Query(query, args...)
	return &Row{rows: rows, err: err}
}

// Bump adds 1 to topic's generation in this transaction, however often it is called. The rows are written
// last and in order, so that writers that bump one topic wait for each other only briefly and never
// deadlock.
func (t *Tx) Bump(topic string) error {
	if t.failed != nil {
		return t.failed
	}
	if err := checkText(topic); err != nil {
		return t.fail(err)
	}
	if i, found := slices.BinarySearch(t.bumps, topic); !found {
		t.bumps = slices.Insert(t.bumps, i, topic)
	}
	return nil
}

// OnCommit registers fn to be called after the transaction is durable and has ended. Such functions run in
// the order of these calls, before Write returns, in its goroutine. fn is dropped when the transaction is
// rolled back or its function runs again. It may open transactions itself. In a Read, fn is called when the
// Read has ended without an error.
//
// fn is not called if the process dies after the commit, or if the connection to PostgreSQL breaks during
// COMMIT. So fn may ring a worker or fill a cache. Store work that must not be lost as a row of the
// transaction.
func (t *Tx) OnCommit(fn func()) { t.onCommit = append(t.onCommit, fn) }

// BeforeCommit registers fn to be called at the end of the transaction, after the check of its right and its
// [Bound]. fn reads the data that is about to be committed, and its error rolls the transaction back. Such
// functions run in the order in which they were registered, after all statements sent with Send have returned.
func (t *Tx) BeforeCommit(fn func(*Tx) error) { t.beforeCommit = append(t.beforeCommit, fn) }

// finish calls the functions registered with BeforeCommit, also those that sent statements register.
func (t *Tx) finish() error {
	if t.rows != nil {
		t.rows.Close()
	}
	for n := 0; ; n++ {
		if n < len(t.beforeCommit) || t.mayRegister {
			t.mayRegister = false
			if err := t.Flush(); err != nil {
				return err
			}
		}
		if n == len(t.beforeCommit) {
			return nil
		}
		if err := t.beforeCommit[n](t); err != nil {
			return err
		}
	}
}

// Attach attaches a value under a key until the transaction ends.
func (t *Tx) Attach(key, part any) {
	if t.own == nil {
		t.own = map[any]any{}
	}
	t.own[key] = part
}

// Attached returns the value attached with Attach or DB.Attach under a key, or nil.
func (t *Tx) Attached(key any) any {
	if part := t.own[key]; part != nil || t.parts == nil {
		return part
	}
	v, _ := t.parts.Load(key)
	return v
}

// Generation returns topic's number in this transaction's snapshot, without
// its own bumps.
func (t *Tx) Generation(topic string) (n int64, err error) {
	err = t.QueryRow(`SELECT value FROM generations WHERE topic = $1`, topic).Scan(&n)
	if errors.Is(err, ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// run calls fn and finishes the transaction's remaining work. After its error the transaction must be
// rolled back.
func (t *Tx) run(fn func(*Tx) error) error {
	defer t.end()
	if err := fn(t); err != nil {
		return err
	}
	if t.rows != nil {
		t.rows.Close()
	}
	for _, topic := range t.bumps {
		if err := t.Send(`INSERT INTO generations (topic, value) VALUES ($1, 1)
			ON CONFLICT (topic) DO UPDATE SET value = generations.value + 1`, topic); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (t *Tx) end() {
	if t.rows != nil {
		t.rows.Close()
	}
	t.conn = nil
}

// Rows is the result of a query. It is closed by the Next that returns false.
type Rows struct {
	tx     *Tx
	cursor cursor
	err    error
	closed bool
}

// Next moves to the next row. It returns false at the end and after a failure, which Err then returns.
func (r *Rows) Next() bool {
	if r.closed {
		return false
	}
	if err := r.tx.canceled(); err != nil {
		r.Close()
		r.err = err
		return false
	}
	if r.cursor.next() {
		return true
	}
	r.Close()
	return false
}

// Scan copies the row's columns to what dest points to: *string, *[]byte,
// *bool, *Time, integers, *float64, types of those kinds, sql.Scanner, or a
// pointer to such a pointer, which NULL sets to nil. NULL into anything else
// but *Time (zero) and *[]byte (nil) is an error.
func (r *Rows) Scan(dest ...any) error {
	if r.closed {
		return errors.New("db: Scan without a row")
	}
	if err := r.cursor.scan(dest); err != nil {
		return r.tx.fail(err)
	}
	return nil
}

// Err returns the error that ended the rows early.
func (r *Rows) Err() error { return r.err }

// Close ends the reading. It may be called at any time and more than once.
func (r *Rows) Close() error {
	if r.closed {
		return r.err
	}
	r.closed = true
	r.tx.rows = nil
	if err := r.cursor.close(); err != nil {
		r.err = r.tx.fail(err)
	}
	return r.err
}

// Row is the result of QueryRow.
type Row struct {
	rows *Rows
	err  error
}

// Scan is Rows.Scan for the first row. It returns ErrNoRows if there is none, which does not harm the
// transaction.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	if !r.rows.Next() {
		if r.rows.err != nil {
			return r.rows.err
		}
		return ErrNoRows
	}
	err := r.rows.Scan(dest...)
	if closed := r.rows.Close(); err == nil {
		err = closed
	}
	return err
}

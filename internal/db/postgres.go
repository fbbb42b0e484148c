package db

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"arbor/internal/cache"
	"arbor/internal/errs"
)

const (
	defaultConnections = 16
	maxSerialTries     = 12               // attempts after deadlocks and serialization failures
	maxBrokenTries     = 3                // attempts after a connection broke
	controlTimeout     = 30 * time.Second // for BEGIN, COMMIT and ROLLBACK
)

// postgresBackend is a database on a PostgreSQL server.
type postgresBackend struct {
	config *pgx.ConnConfig
	log    *slog.Logger
	now    func() time.Time
	conns  *pool[*postgresConn]
	lines  lines // see WriteInTurn
}

// newPostgres reads the URL; nothing connects yet. pool_max_conns in the URL
// bounds the connections, 16 without it.
func newPostgres(o Options) (*postgresBackend, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("db: the database's URL cannot be parsed") // err holds the password
	}
	size := defaultConnections
	query := u.Query()
	if s := query.Get("pool_max_conns"); s != "" {
		if size, err = strconv.Atoi(s); err != nil || size < 2 {
			return nil, fmt.Errorf("db: pool_max_conns is %q, not a number from 2", s)
		}
		query.Del("pool_max_conns")
		u.RawQuery = query.Encode()
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("db: the database's URL: %w", err)
	}
	for name, value := range map[string]string{
		"application_name": "arbor", "lock_timeout": "20s", "idle_in_transaction_session_timeout": "60s",
	} {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = value
		}
	}
	// A client that hangs up stops its statement, and keeps the connection.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 5 * time.Second}
	}
	b := &postgresBackend{config: config, log: o.Log, now: o.Now,
		lines: lines{of: map[any]*line{}, batchTime: maxBatchTime}}
	b.conns = newPool(size, b.connect, func(c *postgresConn) { c.close() })
	return b, nil
}

// connect opens a connection for a request.
func (b *postgresBackend) connect(ctx context.Context) (*postgresConn, error) {
	c, err := b.dial(ctx)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return c, err
	}
	return nil, errs.Wrap(errs.Unavailable, "the server is overloaded, try again", translatePostgres(err))
}

// dial opens a connection. Error: ctx's, or pgx's, which names the server and
// the database but not the password.
func (b *postgresBackend) dial(ctx context.Context) (*postgresConn, error) {
	raw, err := pgx.ConnectConfig(ctx, b.config.Copy())
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return &postgresConn{raw: raw}, nil
}

const (
	beginRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	beginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
)

func (b *postgresBackend) read(ctx context.Context, fn func(*Tx) error, _ bool) error {
	return b.retry(ctx, beginRead, fn)
}

func (b *postgresBackend) readOne(ctx context.Context, fn func(*Tx) error) error {
	return b.retry(ctx, "", fn)
}

func (b *postgresBackend) write(ctx context.Context, fn func(*Tx) error) error {
	return b.retry(ctx, beginWrite, fn)
}

// retry runs fn in a transaction until it is committed or an error remains.
func (b *postgresBackend) retry(ctx context.Context, begin string, fn func(*Tx) error) error {
	broken := 0
	for try := 1; ; try++ {
		err := b.once(ctx, begin, fn)
		switch {
		case errors.Is(err, errSerial):
			if try >= maxSerialTries {
				return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
			}
		case errors.Is(err, errBroken):
			b.conns.clear()
			if broken++; broken >= maxBrokenTries {
				return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
			}
		default:
			return err
		}
		b.log.DebugContext(ctx, "transaction runs again", "try", try, "error", err)
		pause := time.Duration(try) * time.Duration(rand.Int64N(int64(4*time.Millisecond))+1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// once runs fn in one transaction, or without a transaction if begin is empty. Its errors
// before COMMIT is sent may be errSerial or errBroken, both safe to try again.
func (b *postgresBackend) once(ctx context.Context, begin string, fn func(*Tx) error) error {
	c, err := b.conns.get(ctx)
	if err != nil {
		return err
	}
	c.open, c.queue = false, c.queue[:0]
	c.forget()
	if begin != "" {
		c.queue = append(c.queue, queued{query: begin})
	}
	ended := false
	defer func() { // also when fn panics
		c.queue = c.queue[:0]
		if begin != "" && c.open && !ended && c.control(ctx, "ROLLBACK") != nil || c.raw.IsClosed() {
			b.conns.drop(c)
		} else {
			b.conns.put(c)
		}
	}()
	tx := Tx{Now: FromTime(b.now()), ctx: ctx, caller: ctx, conn: c}
	if err := tx.run(fn); err != nil {
		if tx.failed != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return c.broken(ctx, err)
	}
	if begin == "" || !c.open && len(c.queue) == 1 { // fn ran nothing
		return nil
	}
	// The rows that a read has given are right, however its transaction ends.
	if err := c.commit(ctx); begin != beginRead && errors.Is(err, errNotEnded) {
		return c.broken(ctx, err)
	} else if begin != beginRead && err != nil {
		ended = true
		return err
	}
	ended = true
	return nil
}

// ask learns the state from the text of PostgreSQL's current snapshot: which transactions
// had not ended. A commit takes its transaction out of that set, for good, before it is
// acknowledged; so between two equal texts nothing was committed. Only a crash may let
// numbers of transactions come again: so the server's start belongs to the state.
func (b *postgresBackend) ask(ctx context.Context, m *moment) error {
	topics := make([]string, 0, len(m.numbers))
	for topic := range m.numbers {
		if err := checkText(topic); err != nil {
			return err
		}
		topics = append(topics, topic)
	}
	for try := 1; ; try++ {
		c, err := b.conns.get(ctx)
		if err != nil {
			return err
		}
		err = c.broken(ctx, c.ask(ctx, topics, m))
		if c.raw.IsClosed() {
			b.conns.drop(c)
		} else {
			b.conns.put(c)
		}
		if !errors.Is(err, errBroken) && !errors.Is(err, errSerial) {
			return err
		}
		b.conns.clear()
		if try == maxBrokenTries {
			return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
		}
	}
}

func (b *postgresBackend) close() error {
	b.conns.shut()
	return nil
}

// postgresConn is a connection; pgx keeps its prepared statements.
type postgresConn struct {
	raw  *pgx.Conn
	args []any

	queue []queued // to be sent together with the next statement; the first may open the transaction
	open  bool     // that transaction was opened

	coming []queued  // queries to be sent behind the next one
	early  []earlier // those that were, until they are asked
}

// queued is a statement of whose outcome only a failure matters.
type queued struct {
	query    string
	args     []any
	affected func(rows int64) // hears how many rows it changed; may be nil
}

// send sends what is queued, a statement, and queries behind it in one trip. Error: that of what was queued.
func (c *postgresConn) send(ctx context.Context, query string, args []any, behind ...queued) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	for _, q := range c.queue {
		batch.Queue(q.query, q.args...)
	}
	before := c.queue
	defer clear(before)
	c.queue, c.open = c.queue[:0], true
	batch.Queue(query, args...)
	for _, q := range behind {
		batch.Queue(q.query, q.args...)
	}
	results := c.raw.SendBatch(ctx, batch)
	for _, q := range before {
		tag, err := results.Exec()
		if err != nil {
			results.Close()
			return nil, err
		}
		if q.affected != nil {
			q.affected(tag.RowsAffected())
		}
	}
	return results, nil
}

func (c *postgresConn) later(_ context.Context, query string, args []any, affected func(rows int64)) error {
	c.forget()
	kept, err := c.keep(args)
	if err == nil {
		c.queue = append(c.queue, queued{query, kept, affected})
	}
	return err
}

// keep gives arguments for later.
func (c *postgresConn) keep(args []any) ([]any, error) {
	bound, err := c.bind(args)
	if err != nil {
		return nil, err
	}
	kept := slices.Clone(bound)
	for i, a := range kept {
		if b, ok := a.([]byte); ok {
			kept[i] = bytes.Clone(b) // the caller may use it again
		}
	}
	clear(bound)
	return kept, nil
}

func (c *postgresConn) bind(args []any) ([]any, error) {
	c.args = c.args[:0]
	for i, a := range args {
		if array, ok := a.(arrayArgument); ok {
			c.args = append(c.args, array.list)
			continue
		}
		v, err := argument(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		c.args = append(c.args, v)
	}
	return c.args, nil
}

func (c *postgresConn) engine() Engine { return PostgreSQL }

func (c *postgresConn) exec(ctx context.Context, query string, args []any) (int64, error) {
	bound, err := c.bind(args)
	if err != nil {
		return 0, err
	}
	tag, err := c.run(ctx, query, bound)
	clear(bound)
	if err != nil {
		return 0, translatePostgres(err)
	}
	if tag.Insert() || tag.Update() || tag.Delete() {
		return tag.RowsAffected(), nil
	}
	return 0, nil
}

func (c *postgresConn) run(ctx context.Context, query string, args []any) (tag pgconn.CommandTag, err error) {
	c.forget()
	if len(c.queue) == 0 {
		return c.raw.Exec(ctx, query, args...)
	}
	results, err := c.send(ctx, query, args)
	if err != nil {
		return tag, err
	}
	tag, err = results.Exec()
	return tag, cmp.Or(err, results.Close())
}

func (c *postgresConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	bound, err := c.bind(args)
	if err != nil {
		return nil, err
	}
	defer clear(bound)
	if rows, found := c.take(query, bound); found {
		return &keptCursor{rows: rows}, nil
	}
	behind := c.takeComing(query, bound)
	if !strings.HasPrefix(strings.TrimLeft(query, " \t\r\n"), "SELECT") { // it may change rows
		c.early = nil
	}
	if len(c.queue) == 0 && len(behind) == 0 {
		rows, err := c.raw.Query(ctx, query, bound...)
		if err != nil {
			return nil, translatePostgres(err)
		}
		return &postgresCursor{rows: rows}, nil
	}
	results, err := c.send(ctx, query, bound, behind...)
	if err != nil {
		return nil, translatePostgres(err)
	}
	rows, err := results.Query()
	if err != nil {
		results.Close()
		return nil, translatePostgres(err)
	}
	return &postgresCursor{rows: rows, batch: results, conn: c, behind: behind}, nil
}

// control runs BEGIN, COMMIT or ROLLBACK, which a client's hanging up must
// not cut short.
func (c *postgresConn) control(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlTimeout)
	defer cancel()
	_, err := c.raw.PgConn().Exec(ctx, statement).ReadAll()
	return translatePostgres(err)
}

// errNotEnded says that a statement failed before COMMIT, so the transaction is not over.
var errNotEnded = errors.New("db: the transaction failed before COMMIT")

// commit sends what is queued, and COMMIT. It tells a refusal, which is certain, from a
// connection that broke, after which nobody knows. Error: errNotEnded with the cause, when
// what was queued was refused.
func (c *postgresConn) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlTimeout)
	defer cancel()
	results, err := c.send(ctx, "COMMIT", nil)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && !c.raw.IsClosed() {
		return fmt.Errorf("%w: %w", errNotEnded, translatePostgres(err))
	}
	var tag pgconn.CommandTag
	if err == nil {
		tag, err = results.Exec()
		err = cmp.Or(err, results.Close())
	}
	switch {
	case errors.As(err, &answer) && !c.raw.IsClosed():
		return translatePostgres(err)
	case err != nil:
		return fmt.Errorf("%w: %v", ErrOutcomeUnknown, err)
	case tag.String() != "COMMIT":
		return errors.New("db: the transaction was rolled back at COMMIT")
	}
	return nil
}

// broken marks an error after which the connection is gone, before COMMIT was
// sent, as one to try again.
func (c *postgresConn) broken(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && c.raw.IsClosed() && !errors.Is(err, errBroken) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

func (c *postgresConn) ask(ctx context.Context, topics []string, m *moment) error {
	var snapshot string
	var found []string
	var numbers []int64
	err := c.raw.QueryRow(ctx, `SELECT pg_current_snapshot()::text || pg_postmaster_start_time()::text,
		array_agg(topic), array_agg(value) FROM generations WHERE topic = ANY($1)`, topics).Scan(&snapshot, &found, &numbers)
	if err != nil {
		return translatePostgres(err)
	}
	for i, topic := range found {
		m.numbers[topic] = numbers[i]
	}
	m.state = cache.Named(snapshot)
	return nil
}

func (c *postgresConn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.raw.Close(ctx)
}

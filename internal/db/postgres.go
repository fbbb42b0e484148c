package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"

	"arbor/internal/cache"
	"arbor/internal/errs"
)

const (
	defaultConnections = 16
	maxSerialTries     = 12               // attempts after deadlocks and serialization failures
	maxBrokenTries     = 3                // attempts after a connection broke
	controlTimeout     = 30 * time.Second // for COMMIT and ROLLBACK
)

// postgresBackend is a database on a PostgreSQL server.
type postgresBackend struct {
	log     *slog.Logger
	now     func() time.Time
	trace   func(ctx context.Context, query string) // may be nil
	conns   *pgxpool.Pool
	probes  *pgxpool.Pool // one connection for DB.Answers, which must not wait for those of requests
	waiters waiters       // for conns
	shares  shares        // of conns

	controls time.Duration // how long COMMIT and ROLLBACK may take; 0: controlTimeout

	positions bool                   // there is a replica: ask asks for the position in the log as well
	primary   atomic.Pointer[string] // whose position that was
}

// newPostgres reads the URL; nothing connects yet. pool_max_conns in the URL
// bounds the connections; without it o.Connections does.
func newPostgres(o Options) (*postgresBackend, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("db: the database's URL cannot be parsed") // err holds the password
	}
	size := cmp.Or(o.Connections, defaultConnections)
	query := u.Query()
	if s := query.Get("pool_max_conns"); s != "" {
		if size, err = strconv.Atoi(s); err != nil || size < 2 {
			return nil, fmt.Errorf("db: pool_max_conns is %q, not a number from 2", s)
		}
		query.Del("pool_max_conns")
		u.RawQuery = query.Encode()
	}
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("db: the database's URL: %w", err)
	}
	for name, value := range map[string]string{
		"application_name": "arbor", "lock_timeout": "20s", "idle_in_transaction_session_timeout": "60s",
	} {
		if config.ConnConfig.RuntimeParams[name] == "" {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	// A client that hangs up stops its statement, and keeps the connection.
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cmp.Or(o.hangUp, 5*time.Second)}
	}
	config.MaxConnIdleTime = keepIdle
	// The first statement shows whether a connection broke while it was idle, and then runs again.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	b := &postgresBackend{log: o.Log, now: o.Now, trace: o.Trace, controls: o.hangUp}
	if b.conns, err = newPostgresPool(config, size); err != nil {
		return nil, err
	}
	if b.probes, err = newPostgresPool(config, 1); err != nil {
		return nil, err
	}
	b.shares = shares{of: o.Holder, all: make(chan struct{}, max(1, size/2)), most: max(2, size/4),
		held: map[any]*share{}}
	return b, nil
}

func newPostgresPool(config *pgxpool.Config, size int) (*pgxpool.Pool, error) {
	config = config.Copy()
	config.MaxConns = int32(size)
	return pgxpool.NewWithConfig(context.Background(), config)
}

// acquire returns a connection of a pool, which may have broken while it was idle. The caller releases it.
func (b *postgresBackend) acquire(ctx context.Context, from *pgxpool.Pool) (*postgresConn, error) {
	c, err := wait(ctx, &b.waiters, from.Acquire)
	switch {
	case err == nil:
		return &postgresConn{pooled: c, raw: c.Conn(), controls: b.controls}, nil
	case errors.Is(err, puddle.ErrClosedPool):
		return nil, errClosed
	case ctx.Err() != nil || errs.Is(err, errs.Unavailable):
		return nil, err
	}
	return nil, errs.Wrap(errs.Unavailable, "the server is overloaded, try again", translatePostgres(err))
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
	leave, err := b.shares.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return b.retry(ctx, beginWrite, fn)
}

// retry runs fn in a transaction until it is committed or an error remains.
func (b *postgresBackend) retry(ctx context.Context, begin string, fn func(*Tx) error) error {
	broken := 0
	for try := 1; ; try++ {
		err := b.once(ctx, begin, nil, fn)
		switch {
		case errors.Is(err, errSerial):
			if try >= maxSerialTries {
				return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
			}
		case errors.Is(err, errBroken):
			b.conns.Reset() // the others have probably broken, too
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

// once runs fn in one transaction, or without a transaction if begin is empty, on a connection that is
// ready for it; ready may be nil. Its errors before COMMIT is sent may be errSerial or errBroken, both safe to try again.
func (b *postgresBackend) once(
	ctx context.Context, begin string, ready func(*postgresConn) error, fn func(*Tx) error,
) error {
	c, err := b.acquire(ctx, b.conns)
	if err != nil {
		return err
	}
	defer func() { // also when fn panics
		if c.open() {
			_ = c.control(ctx, "ROLLBACK") // the pool closes a connection that is still in a transaction
		}
		c.pooled.Release()
	}()
	if ready != nil {
		if err := ready(c); err != nil {
			return err
		}
	}
	if begin != "" {
		c.send(queued{query: begin})
	}
	tx := Tx{Now: FromTime(b.now()), ctx: ctx, caller: ctx, conn: c}
	if err := tx.run(fn); err != nil {
		if tx.failed != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return c.broken(ctx, err)
	}
	if !c.open() {
		return nil
	}
	if err := c.commit(ctx); begin == beginWrite { // what a read has returned is right, however it ends
		return err
	}
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
	if b.trace != nil {
		b.trace(ctx, selectGeneration)
	}
	err := b.question(ctx, b.conns, func(c *postgresConn) error { return c.ask(ctx, topics, m, b.positions) })
	if err == nil && b.positions {
		b.meet(m.position.primary)
	}
	return err
}

// meet renews what is kept by generations when another server has become the primary: a standby shows commits that wait
// for another one, which may take over without them.
func (b *postgresBackend) meet(primary string) {
	if last := b.primary.Swap(&primary); last != nil && *last != primary {
		cache.Renew()
	}
}

func (b *postgresBackend) answers(ctx context.Context) error {
	return b.question(ctx, b.probes, func(c *postgresConn) error {
		_, err := c.raw.Exec(ctx, `SELECT 1`)
		return translatePostgres(err)
	})
}

// question asks something by one statement on a connection of the pool, and once more on another where that
// broke.
func (b *postgresBackend) question(
	ctx context.Context, from *pgxpool.Pool, ask func(*postgresConn) error,
) error {
	for try := 1; ; try++ {
		c, err := b.acquire(ctx, from)
		if err != nil {
			return err
		}
		err = c.broken(ctx, ask(c))
		c.pooled.Release()
		if !errors.Is(err, errBroken) && !errors.Is(err, errSerial) {
			return err
		}
		from.Reset()
		if try == maxBrokenTries {
			return errs.Wrap(errs.Unavailable, "the server is overloaded, try again", err)
		}
	}
}

func (b *postgresBackend) close() error {
	b.conns.Close()
	b.probes.Close()
	return nil
}

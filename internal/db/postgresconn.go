package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"arbor/internal/cache"
)

// postgresConn is a connection; pgx keeps its prepared statements.
type postgresConn struct {
	pooled *pgxpool.Conn
	raw    *pgx.Conn // the same
	queue  []queued  // statements that go to the server together with the next one

	controls time.Duration // how long COMMIT and ROLLBACK may take; 0: controlTimeout
}

// queued is a statement that goes to the server with the next flush.
type queued struct {
	query   string
	args    []any
	then    func(affected int64) // called when it has run; may be nil
	each    func(Scanner) error  // called with every row; may be nil
	awaited bool                 // its error is that of the flush
}

func (c *postgresConn) engine() Engine { return PostgreSQL }

func (c *postgresConn) send(q queued) { c.queue = append(c.queue, q) }

func (c *postgresConn) exec(ctx context.Context, query string, args []any) (affected int64, err error) {
	c.send(queued{query: query, args: args, then: func(n int64) { affected = n }, awaited: true})
	return affected, c.flush(ctx)
}

// flush runs what is queued, in one round trip.
func (c *postgresConn) flush(ctx context.Context) error {
	batch, err := c.batch(ctx)
	if batch != nil {
		if closed := batch.Close(); err == nil {
			err = closed
		}
	}
	return translatePostgres(err)
}

// batch sends what is queued and more, and reads the results of what was queued. The caller closes the batch unless it
// is nil.
func (c *postgresConn) batch(ctx context.Context, more ...queued) (pgx.BatchResults, error) {
	queue := c.queue
	c.queue = nil
	var b pgx.Batch
	for _, q := range append(queue, more...) {
		b.Queue(q.query, q.args...)
	}
	if b.Len() == 0 {
		return nil, nil
	}
	batch := c.raw.SendBatch(ctx, &b)
	for _, q := range queue {
		if err := q.read(batch); err != nil {
			return batch, q.own(err)
		}
	}
	return batch, nil
}

// read reads the result of the statement, which is the next one of the batch.
func (q *queued) read(batch pgx.BatchResults) error {
	if q.each == nil {
		tag, err := batch.Exec()
		switch {
		case err != nil || q.then == nil:
			return err
		case tag.Insert() || tag.Update() || tag.Delete():
			q.then(tag.RowsAffected())
		default:
			q.then(0)
		}
		return nil
	}
	rows, err := batch.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := q.each(sentRow{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// own translates the error of the statement. The caller waits for another statement, so the sentinels are hidden.
func (q *queued) own(err error) error {
	err = translatePostgres(err)
	if !q.awaited && (errors.Is(err, ErrUnique) || errors.Is(err, ErrForeignKey) || errors.Is(err, ErrNoRows)) {
		return fmt.Errorf("db: a statement that was sent: %v", err)
	}
	return err
}

// sentRow is a row of a statement that was sent.
type sentRow struct{ rows pgx.Rows }

func (r sentRow) Scan(dest ...any) error { return translatePostgres(r.rows.Scan(dest...)) }

func (c *postgresConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	if len(c.queue) == 0 {
		rows, err := c.raw.Query(ctx, query, args...)
		if err != nil {
			return nil, translatePostgres(err)
		}
		return postgresCursor{rows, nil}, nil
	}
	batch, err := c.batch(ctx, queued{query: query, args: args})
	if err == nil {
		var rows pgx.Rows
		if rows, err = batch.Query(); err == nil {
			return postgresCursor{rows, batch}, nil
		}
	}
	_ = batch.Close() // the first error counts
	return nil, translatePostgres(err)
}

// open reports whether a transaction has begun and not ended.
func (c *postgresConn) open() bool { return !c.raw.IsClosed() && c.raw.PgConn().TxStatus() != 'I' }

// control runs ROLLBACK, which a client's hanging up must not cut short.
func (c *postgresConn) control(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(c.controls, controlTimeout))
	defer cancel()
	_, err := c.raw.PgConn().Exec(ctx, statement).ReadAll()
	return translatePostgres(err)
}

// commit sends COMMIT. It tells a refusal, which is certain, from a connection that broke, after which nobody
// knows.
func (c *postgresConn) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(c.controls, controlTimeout))
	defer cancel()
	results, err := c.raw.PgConn().Exec(ctx, "COMMIT").ReadAll()
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer) && !c.raw.IsClosed():
		return translatePostgres(err)
	case err != nil:
		return fmt.Errorf("%w: %v", ErrOutcomeUnknown, err)
	case results[0].CommandTag.String() != "COMMIT":
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

func (c *postgresConn) ask(ctx context.Context, topics []string, m *moment, withPosition bool) error {
	var snapshot string
	var found []string
	var numbers []int64
	to, more := []any{&snapshot, &found, &numbers}, ""
	if withPosition {
		to, more = append(to, &m.position.primary, &m.position.log), askPosition
	}
	err := c.raw.QueryRow(ctx, `SELECT pg_current_snapshot()::text || pg_postmaster_start_time()::text,
		array_agg(topic), array_agg(value)`+more+` FROM generations
		WHERE topic = ANY($1)`, topics).Scan(to...)
	if err != nil {
		return translatePostgres(err)
	}
	for i, topic := range found {
		m.numbers[topic] = numbers[i]
	}
	m.state = cache.Named(snapshot)
	return nil
}

// postgresCursor reads rows.
type postgresCursor struct {
	rows  pgx.Rows
	batch pgx.BatchResults // that they are the last result of; may be nil
}

func (r postgresCursor) next() bool { return r.rows.Next() }

func (r postgresCursor) scan(dest []any) error { return translatePostgres(r.rows.Scan(dest...)) }

func (r postgresCursor) close() error {
	r.rows.Close()
	err := r.rows.Err()
	if r.batch != nil {
		if closed := r.batch.Close(); err == nil {
			err = closed
		}
	}
	return translatePostgres(err)
}

package db

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"arbor/internal/cache"
)

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
func (c *postgresConn) send(
	ctx context.Context, query string, args []any, behind ...queued,
) (pgx.BatchResults, error) {
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
	if err != nil && !c.raw.IsClosed() { // also one whose arguments could not be sent
		return fmt.Errorf("%w: %w", errNotEnded, translatePostgres(err))
	}
	var tag pgconn.CommandTag
	var answer *pgconn.PgError
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
		array_agg(topic), array_agg(value) FROM generations
		WHERE topic = ANY($1)`, topics).Scan(&snapshot, &found, &numbers)
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

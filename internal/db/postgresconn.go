package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"arbor/internal/cache"
)

// postgresConn is a connection; pgx keeps its prepared statements.
type postgresConn struct {
	raw  *pgx.Conn
	args []any
}

func (c *postgresConn) bind(args []any) ([]any, error) {
	c.args = c.args[:0]
	for i, a := range args {
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
	tag, err := c.raw.Exec(ctx, query, bound...)
	clear(bound)
	if err != nil {
		return 0, translatePostgres(err)
	}
	if tag.Insert() || tag.Update() || tag.Delete() {
		return tag.RowsAffected(), nil
	}
	return 0, nil
}

func (c *postgresConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	bound, err := c.bind(args)
	if err != nil {
		return nil, err
	}
	rows, err := c.raw.Query(ctx, query, bound...)
	clear(bound)
	if err != nil {
		return nil, translatePostgres(err)
	}
	return &postgresCursor{rows: rows}, nil
}

// control runs BEGIN, COMMIT or ROLLBACK, which a client's hanging up must
// not cut short.
func (c *postgresConn) control(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlTimeout)
	defer cancel()
	_, err := c.raw.PgConn().Exec(ctx, statement).ReadAll()
	return translatePostgres(err)
}

// commit sends COMMIT. It tells a refusal, which is certain, from a connection that broke, after which nobody
// knows.
func (c *postgresConn) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), controlTimeout)
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

package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"arbor/internal/cache"
)

// postgresConn is a connection; pgx keeps its prepared statements.
type postgresConn struct {
	pooled *pgxpool.Conn
	raw    *pgx.Conn // the same
}

func (c *postgresConn) engine() Engine { return PostgreSQL }

func (c *postgresConn) exec(ctx context.Context, query string, args []any) (int64, error) {
	tag, err := c.raw.Exec(ctx, query, args...)
	if err != nil {
		return 0, translatePostgres(err)
	}
	if tag.Insert() || tag.Update() || tag.Delete() {
		return tag.RowsAffected(), nil
	}
	return 0, nil
}

func (c *postgresConn) query(ctx context.Context, query string, args []any) (cursor, error) {
	rows, err := c.raw.Query(ctx, query, args...)
	if err != nil {
		return nil, translatePostgres(err)
	}
	return postgresCursor{rows}, nil
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
type postgresCursor struct{ rows pgx.Rows }

func (r postgresCursor) next() bool { return r.rows.Next() }

func (r postgresCursor) scan(dest []any) error { return translatePostgres(r.rows.Scan(dest...)) }

func (r postgresCursor) close() error {
	r.rows.Close()
	return translatePostgres(r.rows.Err())
}

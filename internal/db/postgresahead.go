package db

import (
	"github.com/jackc/pgx/v5"
)

// earlier is a query that was sent before it was asked, see [Tx.Ahead].
type earlier struct {
	query string
	args  string // keyOf them
	rows  []keptRow
}

// ahead notes a query that is sent behind the next one.
func (c *postgresConn) ahead(query string, args []any) {
	if kept, err := c.keep(args); err == nil {
		c.coming = append(c.coming, queued{query: query, args: kept})
	}
}

// collect keeps the rows of queries that were sent behind another.
func (c *postgresConn) collect(results pgx.BatchResults, behind []queued) error {
	for _, q := range behind {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		early := earlier{query: q.query, args: keyOf(q.args)}
		for in := (&postgresCursor{rows: rows}); rows.Next(); {
			_, row, _, _ := in.keep(false)
			early.rows = append(early.rows, row)
		}
		if rows.Close(); rows.Err() != nil {
			return rows.Err()
		}
		c.early = append(c.early, early)
	}
	return nil
}

// take gives the rows of a query that was sent before, once.
func (c *postgresConn) take(query string, bound []any) ([]keptRow, bool) {
	for n, e := range c.early {
		if e.query == query && e.args == keyOf(bound) {
			c.early = append(c.early[:n], c.early[n+1:]...)
			return e.rows, true
		}
	}
	return nil, false
}

// forget drops rows that another statement may have made wrong, and queries that were to come.
func (c *postgresConn) forget() { c.early, c.coming = nil, nil }

package db

import (
	"slices"

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

// takeComing gives the queries that are sent behind one, which is not among them.
func (c *postgresConn) takeComing(query string, bound []any) []queued {
	list := slices.DeleteFunc(c.coming, func(q queued) bool {
		return q.query == query && keyOf(q.args) == keyOf(bound)
	})
	c.coming = nil
	return list
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

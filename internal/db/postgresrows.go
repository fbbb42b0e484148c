package db

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// postgresCursor reads pgx's rows.
type postgresCursor struct {
	rows pgx.Rows
	dest []any
}

func (r *postgresCursor) next() bool { return r.rows.Next() }

func (r *postgresCursor) scan(dest []any) error {
	r.dest = append(r.dest[:0], dest...)
	for i, d := range r.dest {
		if t, ok := d.(*Time); ok {
			r.dest[i] = (*timeScanner)(t)
		}
	}
	return translatePostgres(r.rows.Scan(r.dest...))
}

func (r *postgresCursor) close() error {
	r.rows.Close()
	return translatePostgres(r.rows.Err())
}

// timeScanner reads NULL as the zero Time.
type timeScanner Time

func (t *timeScanner) ScanInt64(v pgtype.Int8) error {
	*t = timeScanner(v.Int64)
	return nil
}

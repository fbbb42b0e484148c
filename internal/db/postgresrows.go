package db

import (
	"cmp"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// postgresCursor reads pgx's rows.
type postgresCursor struct {
	rows  pgx.Rows
	batch pgx.BatchResults // that the rows came in; nil: by themselves
	dest  []any

	fields []pgconn.FieldDescription // of rows that are kept
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

func (r *postgresCursor) keep(numbered bool) (number int64, row keptRow, bytes int, err error) {
	if r.fields == nil {
		r.fields = slices.Clone(r.rows.FieldDescriptions())
	}
	raw := r.rows.RawValues()
	kept := postgresRow{r.fields, make([][]byte, len(raw))}
	for n, v := range raw {
		kept.values[n] = slices.Clone(v) // nil is NULL
		bytes += 24 + len(v)
	}
	if numbered {
		first := postgresRow{kept.fields[:1], kept.values[:1]}
		kept = postgresRow{kept.fields[1:], kept.values[1:]}
		err = first.scan([]any{&number})
	}
	return number, kept, bytes, err
}

// postgresRow is a row as the server sent it.
type postgresRow struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

// keptTypes scans kept rows, whose connection may be another's by then. A map is for one goroutine at a time.
var keptTypes = struct {
	sync.Mutex
	*pgtype.Map
}{Map: pgtype.NewMap()}

func (r postgresRow) scan(dest []any) error {
	dest = slices.Clone(dest)
	for i, d := range dest {
		if t, ok := d.(*Time); ok {
			dest[i] = (*timeScanner)(t)
		}
	}
	keptTypes.Lock()
	defer keptTypes.Unlock()
	return translatePostgres(pgx.ScanRow(keptTypes.Map, r.fields, r.values, dest...))
}

func (r *postgresCursor) close() error {
	r.rows.Close()
	err := r.rows.Err()
	if r.batch != nil {
		err = cmp.Or(err, r.batch.Close())
	}
	return translatePostgres(err)
}

// timeScanner reads NULL as the zero Time.
type timeScanner Time

func (t *timeScanner) ScanInt64(v pgtype.Int8) error {
	*t = timeScanner(v.Int64)
	return nil
}

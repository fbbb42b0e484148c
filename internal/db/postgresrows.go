package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// queryMany joins the query to a table of the arguments, so that one text, which is planned once, serves any
// number.
func (c *postgresConn) queryMany(ctx context.Context, query string, many [][]any) (cursor, error) {
	types, err := c.typesOf(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(types) != len(many[0]) {
		return nil, errApart
	}
	arrays := make([]any, len(types))
	for n, of := range types {
		if arrays[n], err = column(of, many, n); err != nil {
			return nil, err
		}
	}
	rows, err := c.query(ctx, lateral(query, types), arrays)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(refused.Code, "42") {
		knownTypes.Store(query, []string(nil)) // it is one that cannot stand there
	}
	return rows, err
}

// arrayTypes are the types of parameters that can be had in a table, by their numbers.
var arrayTypes = map[uint32]string{pgtype.Int8OID: "bigint", pgtype.Int4OID: "integer",
	pgtype.Int2OID: "smallint", pgtype.TextOID: "text", pgtype.ByteaOID: "bytea", pgtype.BoolOID: "boolean",
	pgtype.Float8OID: "double precision"}

// knownTypes are the types of the parameters of queries. There are as many as the program has queries.
var knownTypes sync.Map // string to []string

// typesOf asks for the types of a query's parameters.
func (c *postgresConn) typesOf(ctx context.Context, query string) ([]string, error) {
	if types, ok := knownTypes.Load(query); ok {
		return types.([]string), nil
	}
	described, err := c.raw.PgConn().Prepare(ctx, "", query, nil)
	if err != nil {
		return nil, translatePostgres(err)
	}
	types := make([]string, len(described.ParamOIDs))
	for n, oid := range described.ParamOIDs {
		if types[n] = arrayTypes[oid]; types[n] == "" {
			return nil, errApart
		}
	}
	knownTypes.Store(query, types)
	return types, nil
}

// column is an array of the arguments in a place. Error: errApart for a type that is not the parameter's.
func column(of string, many [][]any, n int) (any, error) {
	switch of {
	case "text":
		return columnOf(many, n, func(v any) (s string, ok bool) { s, ok = v.(string); return s, ok })
	case "bytea":
		return columnOf(many, n, func(v any) ([]byte, bool) {
			if s, ok := v.(string); ok {
				return []byte(s), true
			}
			b, ok := v.([]byte)
			return b, ok
		})
	case "boolean":
		return columnOf(many, n, func(v any) (b, ok bool) { b, ok = v.(bool); return b, ok })
	case "double precision":
		return columnOf(many, n, func(v any) (f float64, ok bool) { f, ok = v.(float64); return f, ok })
	}
	return columnOf(many, n, func(v any) (i int64, ok bool) { i, ok = v.(int64); return i, ok })
}

func columnOf[V any](many [][]any, n int, as func(v any) (V, bool)) (arrayArgument, error) {
	list := make([]*V, len(many)) // nil is NULL
	for k, args := range many {
		if args[n] == nil {
			continue
		}
		v, ok := as(args[n])
		if !ok {
			return arrayArgument{}, errApart
		}
		list[k] = &v
	}
	return arrayArgument{list}, nil
}

// arrayArgument is an argument that only PostgreSQL takes.
type arrayArgument struct{ list any }

// postgresCursor reads pgx's rows.
type postgresCursor struct {
	rows   pgx.Rows
	dest   []any
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
	return translatePostgres(r.rows.Err())
}

// timeScanner reads NULL as the zero Time.
type timeScanner Time

func (t *timeScanner) ScanInt64(v pgtype.Int8) error {
	*t = timeScanner(v.Int64)
	return nil
}

package db

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the type of a column, as far as both engines have it.
type Kind uint8

// The kinds of columns.
const (
	KindInteger Kind = iota + 1
	KindText
	KindBytes
	KindBoolean
	KindFloat
)

// Table is a table of the schema, as it is copied from one database into another.
type Table struct {
	Name    string
	Columns []Column // by name
	Last    int64    // the last id that was given out; 0: none, or the table gives out no ids
}

// Column is a column of a Table.
type Column struct {
	Name string
	Kind Kind
	Key  int // its place in the primary key, from 1; 0: not in it
}

// Version is one migration that a database has applied.
type Version struct {
	Number   int64  `json:"number"`
	Checksum string `json:"checksum"`
}

// Versions lists the migrations that the database has applied, in order.
func Versions(tx *Tx) (list []Version, err error) {
	return QueryList(tx, func(row Scanner) (v Version, err error) {
		err = row.Scan(&v.Number, &v.Checksum)
		return v, err
	}, `SELECT version, checksum FROM schema_migrations ORDER BY version`)
}

// Each row of these is a column of a table: the table, the column, its type, and its place
// in the primary key.
const (
	sqliteColumns = `SELECT t.name, c.name, c.type, c.pk FROM pragma_table_list t, pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY t.name, c.name`
	postgresColumns = `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, NULL),
			COALESCE(CAST(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) AS BIGINT) + 1, 0)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS REGNAMESPACE)
		ORDER BY CAST(c.relname AS TEXT) COLLATE "C", CAST(a.attname AS TEXT) COLLATE "C"`
)

// notCopied are tables of one database alone: Open fills the first, the second says to which folder the
// database belongs, in the next three stand processes that work on it and what they count, and the last two
// tell what its full-text indexes lack.
var notCopied = []string{"schema_migrations", "store_identity", "nodes", "rate_counts", "backups",
	"texts_changed", "names_changed"}

// Tables lists the tables that hold what cannot be derived, by name. The full-text indexes
// are none of them: on each engine they are of a kind of their own.
func Tables(tx *Tx) ([]Table, error) {
	query := sqliteColumns
	if tx.Engine() == PostgreSQL {
		query = postgresColumns
	}
	var list []Table
	var derived []string
	err := QueryEach(tx, func(row Scanner) error {
		var table, kind string
		var c Column
		if err := row.Scan(&table, &c.Name, &kind, &c.Key); err != nil {
			return err
		}
		if len(list) == 0 || list[len(list)-1].Name != table {
			list = append(list, Table{Name: table})
		}
		if c.Kind = kindOf(kind); c.Kind == 0 {
			if strings.EqualFold(kind, "tsvector") {
				derived = append(derived, table)
				return nil
			}
			return fmt.Errorf("db: the column %s.%s has the type %q, which cannot be copied", table,
				c.Name, kind)
		}
		last := &list[len(list)-1]
		last.Columns = append(last.Columns, c)
		return nil
	}, query)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(t Table) bool {
		return slices.Contains(notCopied, t.Name) || slices.Contains(derived, t.Name)
	})
	return list, lastIDs(tx, list)
}

func kindOf(declared string) Kind {
	switch strings.ToUpper(declared) {
	case "INTEGER", "BIGINT", "SMALLINT":
		return KindInteger
	case "TEXT":
		return KindText
	case "BLOB", "BYTEA":
		return KindBytes
	case "BOOLEAN":
		return KindBoolean
	case "REAL", "DOUBLE PRECISION":
		return KindFloat
	}
	return 0
}

// lastIDs reads the last id that each table has given out. On PostgreSQL it may be newer
// than the snapshot, which skips some ids at most.
func lastIDs(tx *Tx, list []Table) error {
	query := `SELECT name, seq FROM sqlite_sequence`
	if tx.Engine() == PostgreSQL {
		query = `SELECT CAST(t.relname AS TEXT), COALESCE(pg_sequence_last_value(s.oid), 0)
			FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.deptype = 'i'
			JOIN pg_class t ON t.oid = d.refobjid
			WHERE s.relkind = 'S' AND t.relnamespace = CAST(current_schema() AS REGNAMESPACE)`
	}
	return QueryEach(tx, func(row Scanner) error {
		var name string
		var last int64
		if err := row.Scan(&name, &last); err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(t Table) bool { return t.Name == name })
		if i >= 0 {
			list[i].Last = last
		}
		return nil
	}, query)
}

// columnNames are the names of the columns that fulfill a condition.
func (t *Table) columnNames(keep func(Column) bool) []string {
	var names []string
	for _, c := range t.Columns {
		if keep == nil || keep(c) {
			names = append(names, `"`+c.Name+`"`)
		}
	}
	return names
}

// EachRow calls fn with each row of a table, in the order of its primary key, so that equal
// databases give equal rows. A value is nil, int64, string, []byte, bool or float64, as its
// column's kind says. The slice is used again for the next row.
func (t *Table) EachRow(tx *Tx, fn func(row []any) error) error {
	keys := slices.Clone(t.Columns)
	slices.SortFunc(keys, func(a, b Column) int { return a.Key - b.Key })
	ordered := Table{Columns: keys}
	order := ordered.columnNames(func(c Column) bool { return c.Key > 0 })
	if order == nil {
		order = t.columnNames(nil)
	}
	row := make([]any, len(t.Columns))
	dest := make([]any, len(row))
	for i := range row {
		dest[i] = &row[i]
	}
	return QueryEach(tx, func(from Scanner) (err error) {
		if err := from.Scan(dest...); err != nil {
			return err
		}
		for i, v := range row {
			if row[i], err = plain(v, t.Columns[i].Kind); err != nil {
				return fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i].Name, err)
			}
		}
		return fn(row)
	}, `SELECT `+strings.Join(t.columnNames(nil), `, `)+` FROM "`+t.Name+`"
		ORDER BY `+strings.Join(order, `, `))
}

// plain converts a driver's value to the type that stands for a kind.
func plain(v any, k Kind) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case int16:
		v = int64(x)
	case int32:
		v = int64(x)
	}
	if n, ok := v.(int64); ok && k == KindBoolean && n&^1 == 0 {
		v = n == 1
	}
	if !k.Has(v) {
		return nil, fmt.Errorf("a value of type %T in a column of kind %d", v, k)
	}
	return v, nil
}

// Has reports whether a value is one of a column of this kind.
func (k Kind) Has(v any) bool {
	switch v.(type) {
	case nil:
		return true
	case int64:
		return k == KindInteger
	case string:
		return k == KindText
	case []byte:
		return k == KindBytes
	case bool:
		return k == KindBoolean
	case float64:
		return k == KindFloat
	}
	return false
}

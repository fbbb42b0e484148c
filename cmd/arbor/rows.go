package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"arbor/internal/db"
)

// listFlags are the flags of commands that list something.
type listFlags struct {
	JSON bool `name:"json" env:"-" help:"Print one JSON object per line."`
}

// rows prints a list: a table, or with --json an object for each row, with the columns in lower case as its keys.
type rows struct {
	p       *process
	columns []string
	json    bool
	table   *tabwriter.Writer
}

func (p *process) rows(f listFlags, columns ...string) *rows {
	r := &rows{p: p, columns: columns, json: f.JSON, table: p.table()}
	if !r.json {
		fmt.Fprintln(r.table, strings.Join(columns, "\t"))
	}
	return r
}

// add prints a row. A db.Time that is zero, a nil *string and a nil value are "-" in a table and null in JSON. An
// empty text is "-" in a table.
func (r *rows) add(values ...any) error {
	if r.json {
		return r.object(values)
	}
	cells := make([]string, len(values))
	for n, value := range values {
		if cells[n] = "-"; value != nil {
			cells[n] = cell(value)
		}
	}
	_, err := fmt.Fprintln(r.table, strings.Join(cells, "\t"))
	return err
}

func cell(value any) string {
	switch value := value.(type) {
	case db.Time:
		return when(value)
	case *string:
		return orDash(value)
	}
	return cmp.Or(fmt.Sprint(value), "-")
}

func (r *rows) object(values []any) error {
	var b bytes.Buffer
	for n, value := range values {
		if t, ok := value.(db.Time); ok {
			if value = t.Time().UTC(); t.IsZero() {
				value = nil
			}
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, ", %q: %s", strings.ReplaceAll(strings.ToLower(r.columns[n]), " ", "_"), text)
	}
	_, err := fmt.Fprintf(r.p.stdout, "{%s}\n", b.Bytes()[2:])
	return err
}

// flush prints what is left of the table.
func (r *rows) flush() error { return r.table.Flush() }

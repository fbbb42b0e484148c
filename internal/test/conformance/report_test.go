//go:build long

package conformance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// counts are the numbers of a row of the table.
type counts struct{ required, missing, wrong, excepted int }

func (r *row) counts() counts {
	c := counts{required: len(r.Required), excepted: len(r.Excepted)}
	for f := range r.Findings {
		if f.Missing {
			c.missing++
		} else {
			c.wrong++
		}
	}
	return c
}

// print writes the table: an operation a line, then what is excepted and why.
func (r *recorder) print(w io.Writer) {
	fmt.Fprintf(w, "%s, @octokit/openapi %s\n\n", r.Title, r.Version)
	fmt.Fprintf(w, "%-82s %8s %8s %8s %8s\n", "operation", "required", "missing", "wrong", "excepted")
	for _, row := range r.rows {
		c := row.counts()
		fmt.Fprintf(w, "%-82s %8d %8d %8d %8d\n", row.op.Method+" "+row.op.Path, c.required, c.missing,
			c.wrong, c.excepted)
		for _, line := range row.lines() {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	fmt.Fprint(w, "\nexcepted:\n")
	for _, e := range exceptions {
		fmt.Fprintf(w, "    %s, %q: %s\n        %s\n", e.Operations, e.At, e.Why, e.Reason)
	}
}

// lines are the findings of a row, with the request that showed each.
func (r *row) lines() []string {
	var list []string
	for f, do := range r.Findings {
		list = append(list, fmt.Sprintf("%s (%s)", f, do))
	}
	slices.Sort(list)
	return list
}

// sum is the last line of the report.
func (r *recorder) sum() string {
	var all counts
	for _, row := range r.rows {
		c := row.counts()
		all.required += c.required
		all.missing += c.missing
		all.wrong += c.wrong
		all.excepted += c.excepted
	}
	return fmt.Sprintf("%d operations, %d fields required, %d missing, %d wrong, %d excepted",
		len(r.rows), all.required, all.missing, all.wrong, all.excepted)
}

// unfilled are the fields of named schemas that were sent, and never with
// anything in them.
func (r *recorder) unfilled() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		if f := r.seen[name]; f.Sent && !f.Filled && !strings.HasPrefix(name, "validation-error") {
			list = append(list, name)
		}
	}
	return list
}

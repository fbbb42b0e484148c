package db

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What one statement for many asks at most: how many of them, bytes of its text, arguments, and bytes of
// rows, which are kept until who asked reads them.
const (
	maxArms      = 100
	maxMerged    = 256 << 10
	maxArguments = 8000
	maxKept      = 4 << 20
)

// keptRow is a row that is scanned later.
type keptRow interface{ scan(dest []any) error }

// keptRows are the rows of one who asked.
type keptRows struct{ list []keptRow }

// keptCursor reads kept rows.
type keptCursor struct {
	rows []keptRow
	at   int
}

func (c *keptCursor) next() bool {
	c.at++
	return c.at <= len(c.rows)
}

func (c *keptCursor) scan(dest []any) error { return c.rows[c.at-1].scan(dest) }

func (c *keptCursor) keep(bool) (int64, keptRow, int, error) { return 0, c.rows[c.at-1], 0, nil }

func (c *keptCursor) close() error { return nil }

// arm is a statement's arguments, and those who ask with them.
type arm struct {
	args []any
	rows *keptRows
	who  []*waiter
}

// fetch sets the rows of those who ask one statement: of those with the same arguments, the same.
func (g *group) fetch(tx *Tx, chosen []*waiter) error {
	var arms []*arm
	known := map[string]*arm{}
	for _, w := range chosen {
		key := keyOf(w.args)
		a := known[key]
		if a == nil {
			a = &arm{args: w.args, rows: &keptRows{}}
			known[key] = a
			arms = append(arms, a)
		}
		a.who = append(a.who, w)
	}
	query := chosen[0].query
	size := min(maxArms, maxMerged/len(query), maxArguments/max(1, len(chosen[0].args)))
	if !isQuery(query) {
		size = 1
	}
	for size = max(1, size); len(arms) > 0; {
		part := arms[:min(size, len(arms))]
		arms = arms[len(part):]
		err := g.fetchPart(tx, query, part)
		if errors.Is(err, errApart) && len(part) > 1 { // one after the other
			err = nil
			for _, a := range part {
				a.rows = &keptRows{}
				err = cmp.Or(err, g.fetchPart(tx, query, []*arm{a}))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *group) fetchPart(tx *Tx, query string, arms []*arm) error {
	if err := tx.canceled(); err != nil {
		return err
	}
	if g.db.trace != nil {
		g.db.trace(g.ctx, query)
	}
	var rows cursor
	var err error
	if len(arms) == 1 {
		rows, err = tx.conn.query(tx.ctx, query, arms[0].args)
	} else {
		many := make([][]any, len(arms))
		for n, a := range arms {
			many[n] = a.args
		}
		rows, err = tx.conn.queryMany(tx.ctx, query, many)
	}
	if err != nil {
		return err
	}
	defer rows.close()
	for kept := 0; rows.next(); {
		n, row, bytes, err := rows.keep(len(arms) > 1)
		if err != nil {
			return err
		}
		if kept += bytes; kept > maxKept || n < 0 || n >= int64(len(arms)) {
			return errApart
		}
		arms[n].rows.list = append(arms[n].rows.list, row)
	}
	if err := rows.close(); err != nil {
		return err
	}
	for _, a := range arms {
		for _, w := range a.who {
			w.rows = a.rows
		}
	}
	return nil
}

// isQuery reports a statement that can stand in another's FROM.
func isQuery(query string) bool {
	word := strings.ToUpper(strings.TrimLeft(query, " \t\r\n("))
	return strings.HasPrefix(word, "SELECT") || strings.HasPrefix(word, "WITH")
}

// union makes one query of many with other arguments each. Its first column says whose a row is; the others,
// and the order of each one's rows, are the query's.
func union(query string, many [][]any) (text string, args []any) {
	parts := placeholders(query)
	var b strings.Builder
	for n, own := range many {
		if n > 0 {
			b.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&b, "SELECT %d, q.* FROM (", n)
		for _, p := range parts {
			if b.WriteString(p.text); p.number > 0 {
				b.WriteString("$" + strconv.Itoa(len(args)+p.number))
			}
		}
		b.WriteString("\n) q")
		args = append(args, own...)
	}
	return b.String(), args
}

// lateral makes a query with a parameter for each of the query's: an array with the arguments of many, of
// such a type. Its first column says whose a row is; the others, and the order of each one's rows, are the
// query's.
func lateral(query string, types []string) string {
	var b strings.Builder
	b.WriteString("SELECT many_args.n - 1, q.* FROM unnest(")
	for n, of := range types {
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d::%s[]", n+1, of)
	}
	b.WriteString(") WITH ORDINALITY AS many_args (")
	for n := range types {
		fmt.Fprintf(&b, "a%d, ", n+1)
	}
	b.WriteString("n) CROSS JOIN LATERAL (")
	for _, p := range placeholders(query) {
		if b.WriteString(p.text); p.number > 0 {
			b.WriteString("many_args.a" + strconv.Itoa(p.number))
		}
	}
	b.WriteString("\n) q")
	return b.String()
}

// placeholder is a piece of a statement before a parameter, and that one's number; 0 in the last piece.
type placeholder struct {
	text   string
	number int
}

// placeholders takes a statement apart at its parameters. What stands in quotes or in a comment is none.
func placeholders(query string) (parts []placeholder) {
	begin := 0
	for at := 0; at < len(query); at++ {
		switch c := query[at]; {
		case c == '\'' || c == '"':
			if n := strings.IndexByte(query[at+1:], c); n >= 0 {
				at += n + 1
			}
		case strings.HasPrefix(query[at:], "--"):
			if n := strings.IndexByte(query[at:], '\n'); n >= 0 {
				at += n
			}
		case c == '$':
			end := at + 1
			for end < len(query) && query[end] >= '0' && query[end] <= '9' {
				end++
			}
			if n, err := strconv.Atoi(query[at+1 : end]); err == nil {
				parts = append(parts, placeholder{query[begin:at], n})
				begin, at = end, end-1
			}
		}
	}
	return append(parts, placeholder{text: query[begin:]})
}

// keyOf tells arguments from others.
func keyOf(args []any) string {
	var b strings.Builder
	for _, a := range args {
		switch v := a.(type) {
		case string:
			fmt.Fprintf(&b, "s%d:%s", len(v), v)
		case []byte:
			fmt.Fprintf(&b, "b%d:%s", len(v), v)
		default:
			fmt.Fprintf(&b, "%T:%v ", v, v)
		}
	}
	return b.String()
}

// boundArguments are arguments as the engines take them.
func boundArguments(args []any) ([]any, error) {
	bound := make([]any, len(args))
	for n, a := range args {
		v, err := argument(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", n+1, err)
		}
		bound[n] = v
	}
	return bound, nil
}

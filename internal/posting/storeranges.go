package posting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// countKey names a counter.
type countKey struct {
	repo  repo.ID
	by    Property
	state issuekit.State
}

// countsOf reads the counters of properties, of each in some repositories; those
// that nothing has are omitted.
func countsOf(tx *db.Tx, asked map[Property][]repo.ID) (map[countKey]int64, error) {
	order := make([]Property, 0, len(asked))
	for p := range asked {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b Property) int { // the same statement each time
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	})
	found := map[countKey]int64{}
	var where []string
	b := &builder{tx: tx}
	flush := func() error {
		if len(where) == 0 {
			return nil
		}
		err := readCounts(tx, strings.Join(where, " OR "), b.args, found)
		where, b = nil, &builder{tx: tx}
		return err
	}
	for _, p := range order {
		for repos := range slices.Chunk(db.Unique(asked[p]), db.MaxValues) {
			if len(b.args)+len(repos) > 2*db.MaxValues {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			where = append(where, "kind = "+b.arg(int64(p.Kind))+" AND value = "+b.arg(p.Value)+
				" AND repo_id IN "+values(b, repos))
		}
	}
	return found, flush()
}

func readCounts(tx *db.Tx, where string, args []any, into map[countKey]int64) error {
	return db.QueryEach(tx, func(row db.Scanner) error {
		var k countKey
		var kind, state, n int64
		if err := row.Scan(&k.repo, &kind, &k.by.Value, &state, &n); err != nil {
			return err
		}
		k.by.Kind, k.state = Kind(kind), issuekit.State(state)
		into[k] = n
		return nil
	}, `SELECT repo_id, kind, value, state, n FROM posting_counts WHERE `+where, args...)
}

// column is what an order compares besides the id, in postings under the name p.
func (o Order) column() string {
	switch o.Sort {
	case Updated:
		return "p.updated_at"
	case Comments:
		return "p.comments"
	}
	return "0"
}

func (o Order) direction() string {
	if o.Asc {
		return ""
	}
	return " DESC"
}

// from returns the FROM clause and the rest of a SELECT for a range.
func (f *ranges) from(b *builder, s *span) string {
	where := whole(b, s)
	if s.since != 0 {
		column := "(p.updated_at + 0)" // another index is walked in its order; it has the time, too
		if f.sort || f.order.Sort == Updated {
			column = "p.updated_at"
		}
		where += " AND " + column + " >= " + b.arg(s.since)
	}
	b.issues, b.repos = false, []repo.ID{s.repo}
	for _, e := range s.rest {
		where += " AND " + b.condition(e)
	}
	if b.issues {
		return " FROM postings p JOIN issues i ON i.id = p.issue_id" + where
	}
	return " FROM postings p" + where
}

// whole returns the WHERE clause that matches all postings of a range, whenever they were updated.
func whole(b *builder, s *span) string {
	return " WHERE p.kind = CAST(" + b.arg(int64(s.by.Kind)) + " AS SMALLINT)" +
		" AND p.value = " + b.value(s.by.Value) +
		" AND p.repo_id = " + b.arg(s.repo) + " AND p.state = " + b.state(s.state)
}

// orderBy is the order of one range.
func (f *ranges) orderBy() string {
	column, id := f.order.column(), "p.issue_id"
	if f.sort { // an expression has no index: sort the rows of the range
		column, id = column+" + 0", id+" + 0"
	}
	if f.order.Sort == Created {
		return " ORDER BY " + id + f.order.direction()
	}
	return " ORDER BY " + column + f.order.direction() + ", " + id + f.order.direction()
}

// read reads the keys of a page of some ranges.
func (f *ranges) read(list []span, offset, size int64) ([]key, error) {
	b := &builder{tx: f.tx}
	f.write(b, list, offset, size)
	return db.QueryList(f.tx, func(row db.Scanner) (k key, err error) {
		err = row.Scan(&k.id, &k.value)
		return k, err
	}, b.String(), b.args...)
}

// write writes the statement that reads the keys of a page of some ranges.
func (f *ranges) write(b *builder, list []span, offset, size int64) {
	if len(list) == 1 {
		b.WriteString("SELECT p.issue_id, " + f.order.column() + " AS value" +
			f.from(b, &list[0]) + f.orderBy())
	} else {
		b.WriteString("SELECT issue_id, value FROM (")
		for n := range list {
			if n > 0 {
				b.WriteString(" UNION ALL ")
			}
			fmt.Fprintf(b, "SELECT * FROM (SELECT p.issue_id, %s AS value%s%s LIMIT %s) s%d",
				f.order.column(), f.from(b, &list[n]), f.orderBy(), b.value(offset+size), n)
		}
		b.WriteString(") u ORDER BY value" + f.order.direction() + ", issue_id" + f.order.direction())
	}
	b.WriteString(" LIMIT " + b.value(size) + " OFFSET " + b.value(offset))
}

// count counts the issues in all ranges; issues updated since a time are counted in the index
// of the updates, for any order.
func (f *ranges) count() (total int64, err error) {
	for part := range slices.Chunk(f.list, maxTogether) {
		b := &builder{tx: f.tx}
		writeCount(b, part)
		var n int64
		if err := f.tx.QueryRow(b.String(), b.args...).Scan(&n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// writeCount writes the statement that counts the issues in some ranges.
func writeCount(b *builder, list []span) {
	b.WriteString("SELECT CAST(SUM(n) AS BIGINT) FROM (")
	for n := range list {
		if n > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT " + countOf(b, &list[n]) + " AS n")
	}
	b.WriteString(") c")
}

// countOf returns an expression for the number of issues in a range. Where only a time is asked for, it counts
// those on the shorter side of it, as the middle between the first and the last update says: the counter has
// the number of all.
func countOf(b *builder, s *span) string {
	if s.since == 0 || len(s.rest) > 0 {
		byUpdates := ranges{order: Order{Sort: Updated}}
		return "(SELECT count(*)" + byUpdates.from(b, s) + ")"
	}
	since, all := b.arg(s.since), " FROM postings p"+whole(b, s)
	read := func(what, when string) string { return "(SELECT " + what + all + when + ")" }
	return "CASE WHEN " + since + " > " + read("min(p.updated_at)", "") + " / 2 + " +
		read("max(p.updated_at)", "") + " / 2 THEN " + read("count(*)", " AND p.updated_at >= "+since) +
		" ELSE " + b.arg(s.n) + " - " + read("count(*)", " AND p.updated_at < "+since) + " END"
}

// read reads the keys of the first page of each query.
func (s *severalRanges) read() ([][]key, error) {
	keys := make([][]key, len(s.list))
	if len(keys) == 0 {
		return nil, nil
	}
	b := &builder{tx: s.tx}
	for n, f := range s.list {
		fmt.Fprintf(b, "%sSELECT %d AS query, q%d.* FROM (", unionAll(n), n, n)
		f.write(b, f.list, 0, s.size)
		fmt.Fprintf(b, ") q%d", n)
	}
	return keys, db.QueryEach(s.tx, func(row db.Scanner) error {
		var n int
		var k key
		if err := row.Scan(&n, &k.id, &k.value); err != nil {
			return err
		}
		keys[n] = append(keys[n], k)
		return nil
	}, b.String(), b.args...)
}

// count counts what those queries find whose numbers are given.
func (s *severalRanges) count(full []int) error {
	if len(full) == 0 {
		return nil
	}
	b := &builder{tx: s.tx}
	for at, n := range full {
		fmt.Fprintf(b, "%sSELECT %d AS query, q%d.* FROM (", unionAll(at), n, n)
		writeCount(b, s.list[n].list)
		fmt.Fprintf(b, ") q%d", n)
	}
	return db.QueryEach(s.tx, func(row db.Scanner) error {
		var n int
		var total int64
		if err := row.Scan(&n, &total); err != nil {
			return err
		}
		s.of[n].Total = total
		return nil
	}, b.String(), b.args...)
}

// unionAll returns UNION ALL before each part of a statement but the first.
func unionAll(n int) string {
	if n == 0 {
		return ""
	}
	return " UNION ALL "
}

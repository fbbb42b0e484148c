package finder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// countKey names a counter.
type countKey struct {
	repo  repo.ID
	by    posting.Property
	state tracker.State
}

// countsOf reads the counters of properties, of each in some repositories; those
// that nothing has are missing.
func countsOf(tx *db.Tx, asked map[posting.Property][]repo.ID) (map[countKey]int64, error) {
	order := make([]posting.Property, 0, len(asked))
	for p := range asked {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b posting.Property) int { // the same statement each time
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
		for repos := range slices.Chunk(asked[p], db.MaxValues) {
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
		k.by.Kind, k.state = posting.Kind(kind), tracker.State(state)
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

// from gives what stands behind SELECT ... for a range.
func (f *ranges) from(b *builder, s *span) string {
	where := " WHERE p.kind = CAST(" + b.arg(int64(s.by.Kind)) + " AS SMALLINT)" +
		" AND p.value = " + b.value(s.by.Value) +
		" AND p.repo_id = " + b.arg(s.repo) + " AND p.state = " + b.state(s.state)
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

// orderBy is the order of one range.
func (f *ranges) orderBy() string {
	column, id := f.order.column(), "p.issue_id"
	if f.sort { // an expression is in no index: what is in the range is sorted
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
	return db.QueryList(f.tx, func(row db.Scanner) (k key, err error) {
		err = row.Scan(&k.id, &k.value)
		return k, err
	}, b.String(), b.args...)
}

// count counts the issues in all ranges; what was updated since within the index
// of the updates, whatever the order.
func (f *ranges) count() (total int64, err error) {
	byUpdates := ranges{order: Order{Sort: Updated}}
	for part := range slices.Chunk(f.list, maxTogether) {
		b := &builder{tx: f.tx}
		b.WriteString("SELECT CAST(SUM(n) AS BIGINT) FROM (")
		for n := range part {
			if n > 0 {
				b.WriteString(" UNION ALL ")
			}
			b.WriteString("SELECT count(*) AS n" + byUpdates.from(b, &part[n]))
		}
		b.WriteString(") c")
		var n int64
		if err := f.tx.QueryRow(b.String(), b.args...).Scan(&n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

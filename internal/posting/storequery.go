package posting

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/tracker"
)

// countKey names a counter.
type countKey struct {
	repo  int64
	by    Property
	state tracker.State
}

// maxNames is how many values stand in one statement.
const maxNames = 400

// countsOf reads the counters of all properties that the parts name; those that
// nothing has are missing.
func countsOf(tx *db.Tx, parts []Part) (map[countKey]int64, error) {
	found := make(map[countKey]int64, 2*len(parts))
	byProperty := map[Property][]int64{}
	var order []Property
	for _, p := range parts {
		for _, has := range p.Has {
			if byProperty[has] == nil {
				order = append(order, has)
			}
			byProperty[has] = append(byProperty[has], p.RepoID)
		}
	}
	var where []string
	var args []any
	flush := func() error {
		if len(where) == 0 {
			return nil
		}
		err := readCounts(tx, strings.Join(where, " OR "), args, found)
		where, args = nil, nil
		return err
	}
	for _, by := range order {
		for repos := range slices.Chunk(byProperty[by], maxNames) {
			if len(args)+len(repos) > 2*maxNames {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			where = append(where, fmt.Sprintf("kind = $%d AND value = $%d AND repo_id IN %s",
				len(args)+1, len(args)+2, db.ValuesFrom(len(args)+3, 1, len(repos))))
			args = append(args, int64(by.Kind), by.Value)
			for _, id := range repos {
				args = append(args, id)
			}
		}
	}
	return found, flush()
}

func readCounts(tx *db.Tx, where string, args []any, into map[countKey]int64) error {
	rows, err := tx.Query(`SELECT repo_id, kind, value, state, n FROM posting_counts WHERE `+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k countKey
		var kind, state, n int64
		if err := rows.Scan(&k.repo, &kind, &k.by.Value, &state, &n); err != nil {
			return err
		}
		k.by.Kind, k.state = Kind(kind), tracker.State(state)
		into[k] = n
	}
	return rows.Err()
}

// builder collects a statement's text and its arguments.
type builder struct {
	strings.Builder
	args []any
}

func (b *builder) arg(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args))
}

// column is what an order compares besides the id; empty in that of creation.
func (o Order) column() string {
	switch o.Sort {
	case Updated:
		return "updated_at"
	case Comments:
		return "comments"
	default:
		return ""
	}
}

func (o Order) direction() string {
	if o.Asc {
		return ""
	}
	return " DESC"
}

// by is the ORDER BY of rows under the name p.
func (o Order) by(p string) string {
	if c := o.column(); c != "" {
		return " ORDER BY " + p + c + o.direction() + ", " + p + "issue_id" + o.direction()
	}
	return " ORDER BY " + p + "issue_id" + o.direction()
}

// keyColumns are what a key is made of, of postings under the name p.
func (o Order) keyColumns() string {
	if c := o.column(); c != "" {
		return "p.issue_id, p." + c
	}
	return "p.issue_id"
}

// from writes what stands after SELECT ... for a stream, with a condition that
// ends the range at a key, unless that is empty.
func (f *finder) from(b *builder, s *stream, upTo string) {
	b.within(s, s.by)
	o := f.q.Order
	beyond := o.Sort == Updated && (o.Asc && f.after != nil || !o.Asc && upTo != "") // a key that is no older than since already bounds the range
	if f.q.Since != 0 && !beyond {
		b.since(f.q.Since, o.Sort == Updated || f.few)
	}
	b.skipping(s, s.has)
	if f.after != nil {
		b.WriteString(" AND " + o.compare(b, o.later(), *f.after))
	}
	if upTo != "" {
		b.WriteString(" AND " + upTo)
	}
}

// within writes the range of the postings of a property in a stream's
// repository and state.
func (b *builder) within(s *stream, by Property) {
	b.WriteString(" FROM postings p WHERE " + b.is("p", by) + " AND p.repo_id = " + b.arg(s.repo) + " AND p.state = CAST(" + b.arg(int64(s.state)) + " AS SMALLINT)")
}

// since writes that the issue was updated since. Unless by the index of the
// updates, another is walked in its order, which has the time, too.
func (b *builder) since(t db.Time, byUpdates bool) {
	column := "(p.updated_at + 0)"
	if byUpdates {
		column = "p.updated_at"
	}
	b.WriteString(" AND " + column + " >= " + b.arg(t))
}

// skipping writes what else the issues of a stream have and lack.
func (b *builder) skipping(s *stream, has []Property) {
	for _, p := range has {
		b.WriteString(" AND EXISTS (" + lookup(b, p) + ")")
	}
	for _, p := range s.lacks {
		b.WriteString(" AND NOT EXISTS (" + lookup(b, p) + ")")
	}
}

// all writes what counts a whole stream, in any order. Ranges that are not much
// longer than the stream's are read beside it, in the order of the issues: to
// look their postings up one by one takes ten times as long for each.
func (f *finder) all(b *builder, s *stream) {
	var beside, looked []Property
	for n, has := range s.has {
		if s.sizes[n] < 10*s.n {
			beside = append(beside, has)
		} else {
			looked = append(looked, has)
		}
	}
	b.WriteString("count(*) AS n")
	if len(beside) > 0 {
		b.WriteString(" FROM (SELECT p.issue_id")
	}
	b.within(s, s.by)
	if f.q.Since != 0 {
		b.since(f.q.Since, len(beside) == 0)
	}
	b.skipping(s, looked)
	for _, has := range beside {
		b.WriteString(" INTERSECT SELECT p.issue_id")
		b.within(s, has)
	}
	if len(beside) > 0 {
		b.WriteString(" ORDER BY 1) i")
	}
}

// later is how keys compare that come after another.
func (o Order) later() string { return pick(o.Asc, " > ", " < ") }

// pick gives one of two signs.
func pick(asc bool, yes, no string) string {
	if asc {
		return yes
	}
	return no
}

// bounds are the conditions of what comes before a key or is it, in one part or
// two: a range of values takes half the time of one of pairs.
func (o Order) bounds(b *builder, k key) []string {
	id := "p.issue_id" + pick(o.Asc, " <= ", " >= ") + b.arg(k.id)
	c := o.column()
	if c == "" {
		return []string{id}
	}
	value := b.arg(k.value)
	return []string{"p." + c + pick(o.Asc, " < ", " > ") + value, "p." + c + " = " + value + " AND " + id}
}

func lookup(b *builder, has Property) string {
	return "SELECT 1 FROM postings q WHERE q.issue_id = p.issue_id AND " + b.is("q", has)
}

// is is the condition that postings are of a property. SQLite plans a statement
// anew when a parameter that it compares becomes 0 or 1, or is no longer, and
// when one that is a limit changes; not so with expressions.
func (b *builder) is(postings string, by Property) string {
	return postings + ".kind = CAST(" + b.arg(int64(by.Kind)) + " AS SMALLINT) AND " + postings + ".value = CAST(" + b.arg(by.Value) + " AS BIGINT)"
}

func (b *builder) limit(n int64) string { return "CAST(" + b.arg(n) + " AS BIGINT)" }

// compare is a condition on the key of a posting.
func (o Order) compare(b *builder, sign string, k key) string {
	if c := o.column(); c != "" {
		return "(p." + c + ", p.issue_id)" + sign + "(" + b.arg(k.value) + ", " + b.arg(k.id) + ")"
	}
	return "p.issue_id" + sign + b.arg(k.id)
}

// by is the order of the postings of one stream.
func (f *finder) by() string {
	if f.few { // an expression is in no index: what is in the range is sorted
		return strings.ReplaceAll(strings.ReplaceAll(f.q.Order.by("p."), "p.issue_id", "p.issue_id + 0"), "p.comments", "p.comments + 0")
	}
	return f.q.Order.by("p.")
}

// read reads the ids of a page from all streams.
func (f *finder) read(offset, size int64) ([]int64, error) {
	b := &builder{}
	if len(f.streams) == 1 {
		b.WriteString("SELECT p.issue_id")
		f.from(b, &f.streams[0], "")
		b.WriteString(f.by() + " LIMIT " + b.limit(size) + " OFFSET " + b.arg(offset))
	} else {
		b.WriteString("SELECT issue_id FROM (")
		for n := range f.streams {
			if n > 0 {
				b.WriteString(" UNION ALL ")
			}
			b.WriteString("SELECT * FROM (SELECT " + f.q.Order.keyColumns())
			f.from(b, &f.streams[n], "")
			fmt.Fprintf(b, "%s LIMIT %s) s%d", f.by(), b.limit(offset+size), n)
		}
		b.WriteString(") u" + f.q.Order.by("") + " LIMIT " + b.limit(size) + " OFFSET " + b.arg(offset))
	}
	return f.tx.QueryIDs(b.String(), b.args...)
}

// count counts what each stream lets through, up to a key and no further than
// limit; without a key all.
func (f *finder) count(list []stream, upTo *key, limit int64) ([]int64, error) {
	counts := make([]int64, 0, len(list))
	for chunk := range slices.Chunk(list, maxTogether) {
		b := &builder{}
		for n := range chunk {
			if n > 0 {
				b.WriteString(" UNION ALL ")
			}
			if upTo == nil {
				fmt.Fprintf(b, "SELECT %d AS at, ", n)
				f.all(b, &chunk[n])
				continue
			}
			fmt.Fprintf(b, "SELECT %d AS at, ", n)
			for part, bound := range f.q.Order.bounds(b, *upTo) {
				b.WriteString([]string{"(SELECT count(*) FROM (SELECT 1", " + (SELECT count(*) FROM (SELECT 1"}[part])
				f.from(b, &chunk[n], bound)
				b.WriteString(" LIMIT " + b.limit(limit) + ") c)")
			}
			b.WriteString(" AS n")
		}
		b.WriteString(" ORDER BY 1")
		rows, err := f.tx.Query(b.String(), b.args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var at, n int64
			if err := rows.Scan(&at, &n); err != nil {
				rows.Close()
				return nil, err
			}
			counts = append(counts, n)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// keyAt reads the key of one row of a stream; nil where there is none.
func (f *finder) keyAt(s *stream, offset int64) (*key, error) {
	b := &builder{}
	b.WriteString("SELECT " + f.q.Order.keyColumns())
	f.from(b, s, "")
	b.WriteString(f.by() + " LIMIT 1 OFFSET " + b.arg(offset))
	var k key
	dest := []any{&k.id, &k.value}
	if f.q.Order.Sort == Created {
		dest = dest[:1]
	}
	err := f.tx.QueryRow(b.String(), b.args...).Scan(dest...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return &k, err
}

// heads reads the first key of each stream; nil for one that is empty.
func (f *finder) heads() ([]*key, error) {
	heads := make([]*key, len(f.streams))
	first := 0
	for chunk := range slices.Chunk(f.streams, maxTogether) {
		b := &builder{}
		for n := range chunk {
			if n > 0 {
				b.WriteString(" UNION ALL ")
			}
			fmt.Fprintf(b, "SELECT %d, h%d.* FROM (SELECT p.issue_id, p.updated_at, p.comments", n, n)
			f.from(b, &chunk[n], "")
			fmt.Fprintf(b, "%s LIMIT 1) h%d", f.by(), n)
		}
		rows, err := f.tx.Query(b.String(), b.args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var at, id, updated, comments int64
			if err := rows.Scan(&at, &id, &updated, &comments); err != nil {
				rows.Close()
				return nil, err
			}
			value := map[Sort]int64{Updated: updated, Comments: comments}[f.q.Order.Sort]
			heads[first+int(at)] = &key{value, id}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		first += len(chunk)
	}
	return heads, nil
}

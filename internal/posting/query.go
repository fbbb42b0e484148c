package posting

import (
	"cmp"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issue/index"
	"arbor/internal/tracker"
)

// Sort is what a list is ordered by; ties are broken by id (decision 24).
type Sort = index.Sort

// The orders that lists know. Ids grow as issues are made, so the order of
// creation is that of the ids.
const (
	Created  = index.Created
	Updated  = index.Updated
	Comments = index.Comments
)

// Order is a sort and a direction.
type Order struct {
	Sort Sort
	Asc  bool
}

// Query chooses issues and orders them: those that one of the parts lets
// through.
type Query struct {
	Parts  []Part
	States []tracker.State // each once
	Since  db.Time         // updated at or after; zero: whenever
	Order  Order
}

// Part chooses the issues of one repository that have all the properties.
type Part struct {
	RepoID int64
	Has    []Property // at least one
	Lacks  []Property

	// Generation is that of the repository's issues, as this transaction reads it,
	// for who finds issues in memory; 0: it was not read.
	Generation int64
}

// stream is a range of the postings: the issues of one repository and state
// that have the property, in every order; those that a part does not let
// through are skipped.
type stream struct {
	by    Property
	repo  int64
	state tracker.State
	has   []Property // besides by
	sizes []int64    // how many postings each of these has
	lacks []Property
	n     int64 // how many postings it has
}

// plain says that a stream lets everything through.
func (s *stream) plain() bool { return len(s.has) == 0 && len(s.lacks) == 0 }

// key is a place in an order.
type key struct {
	value int64 // updated_at or comments; 0 in the order of creation
	id    int64
}

// streams chooses, for each part and state, the property that the fewest issues
// have: its postings are walked, and the others looked up.
func streams(tx *db.Tx, q *Query) ([]stream, error) {
	counts, err := countsOf(tx, q.Parts)
	if err != nil {
		return nil, err
	}
	var list []stream
	for _, p := range q.Parts {
		for _, state := range q.States {
			best := 0
			for n, has := range p.Has {
				if counts[countKey{p.RepoID, has, state}] < counts[countKey{p.RepoID, p.Has[best], state}] {
					best = n
				}
			}
			s := stream{by: p.Has[best], repo: p.RepoID, state: state, lacks: p.Lacks,
				n: counts[countKey{p.RepoID, p.Has[best], state}]}
			if s.n == 0 {
				continue
			}
			for n, has := range p.Has {
				if n != best && has.Kind != ByAll {
					s.has = append(s.has, has)
					s.sizes = append(s.sizes, counts[countKey{p.RepoID, has, state}])
				}
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// Find reads the ids of a page of the issues that the query chooses, and how many
// there are in all. known is the total if the caller has it already, else negative.
func Find(tx *db.Tx, q Query, offset, size, known int64) (ids []int64, total int64, err error) {
	list, err := streams(tx, &q)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	f := &finder{tx: tx, q: &q, streams: list}
	return f.find(offset, size, known)
}

// find reads a page and the total. A short page tells the total itself.
func (f *finder) find(offset, size, known int64) (ids []int64, total int64, err error) {
	if total = known; total < 0 && f.counted() {
		total = sum(f.sizes())
	}
	sorts := f.q.Since != 0 && f.q.Order.Sort != Updated
	if total < 0 && sorts {
		if total, err = f.total(); err != nil {
			return nil, 0, err
		}
	}
	if total >= 0 && offset >= total {
		return nil, total, nil
	}
	f.few = sorts && f.sortsBetter(total, offset+size)
	all := *f // page narrows its streams
	if ids, err = f.page(offset, size); err != nil || total >= 0 {
		return ids, total, err
	}
	if n := int64(len(ids)); n < size && (n > 0 || offset == 0) {
		return ids, offset + n, nil
	}
	total, err = all.total()
	return ids, total, err
}

// counted reports that the counters tell the total: nothing else decides.
func (f *finder) counted() bool {
	return f.q.Since == 0 && !slices.ContainsFunc(f.streams, func(s stream) bool { return !s.plain() })
}

func (f *finder) sizes() []int64 {
	list := make([]int64, len(f.streams))
	for n := range f.streams {
		list[n] = f.streams[n].n
	}
	return list
}

// finder reads the ids of one query.
type finder struct {
	tx      *db.Tx
	q       *Query
	streams []stream
	few     bool // so few were updated since that they are sorted; else an index is walked in order
	after   *key // what comes up to there is skipped
}

// sortsBetter tells whether to sort all that was updated since, rather than to
// walk the index of the order until so many of them were met. The youngest
// issues are those that were, the oldest are not.
func (f *finder) sortsBetter(updated, n int64) bool {
	all := sum(f.sizes())
	if f.q.Order == (Order{Created, true}) {
		return updated <= all/4
	}
	return updated*updated <= n*all
}

// total counts what all streams let through, within their indexes: since within
// that of the updates, whatever the order.
func (f *finder) total() (int64, error) {
	counts, err := f.count(f.streams, nil, 0)
	return sum(counts), err
}

// near is how far into a list all streams are read from their beginnings, and
// sorted together.
const near = 240

// page reads the ids of a page.
func (f *finder) page(offset, size int64) ([]int64, error) {
	if len(f.streams) > 1 {
		var err error
		if offset, err = f.skip(offset); err != nil {
			return nil, err
		}
		if err := f.leading(offset + size); err != nil {
			return nil, err
		}
	}
	return f.read(offset, size)
}

// skip moves forward in all streams together, until the page is near, and
// returns how far it still is. Each step takes the key some way into one
// stream, and counts what the others have up to there.
func (f *finder) skip(offset int64) (int64, error) {
	left := f.sizes()
	j, step := 0, int64(0)
	for offset > near {
		if step == 0 {
			j, step = proportion(left, offset)
		}
		k, err := f.keyAt(&f.streams[j], step-1)
		if err != nil || k == nil { // fewer than the counter says: since, or others, skip some
			left[j] = 0
			if step = 0; err != nil || sum(left) == 0 {
				return offset, err
			}
			continue
		}
		counts, err := f.count(f.streams, k, offset+1)
		if err != nil {
			return 0, err
		}
		if total := sum(counts); total > offset {
			j, step = largest(counts), 0
			step = max(1, min(counts[j], offset)/2)
			if counts[j] == 1 {
				return offset, nil // many streams with one each: read them
			}
			continue
		}
		for n, c := range counts {
			offset -= c
			left[n] = max(0, left[n]-c)
		}
		f.after, step = k, 0
	}
	return offset, nil
}

// proportion chooses the largest stream, and a step in it that takes all
// streams about as far as the page is, if they are mixed evenly.
func proportion(left []int64, offset int64) (j int, step int64) {
	j = largest(left)
	share := float64(left[j]) / float64(sum(left))
	return j, max(1, int64(share*float64(offset)*0.97)-near/8)
}

func largest(list []int64) (at int) {
	for n, v := range list {
		if v > list[at] {
			at = n
		}
	}
	return at
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

// maxTogether is the number of streams that are read in one statement.
const maxTogether = 60

// leading leaves of many streams those that can have a part in the next n rows:
// no more than n, those whose first rows come first.
func (f *finder) leading(n int64) error {
	if int64(len(f.streams)) <= min(n, maxTogether) {
		return nil
	}
	heads, err := f.heads()
	if err != nil {
		return err
	}
	f.streams = firsts(f.streams, heads, f.q.Order, int(n))
	return nil
}

// firsts gives those n of the streams whose heads come first.
func firsts(list []stream, heads []*key, o Order, n int) []stream {
	order := make([]int, 0, len(list))
	for at, h := range heads {
		if h != nil {
			order = append(order, at)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		c := cmp.Or(cmp.Compare(heads[a].value, heads[b].value), cmp.Compare(heads[a].id, heads[b].id))
		if !o.Asc {
			return -c
		}
		return c
	})
	out := make([]stream, 0, n)
	for _, at := range order[:min(n, len(order))] {
		out = append(out, list[at])
	}
	return out
}

package posting

import (
	"cmp"
	"slices"

	"arbor/internal/db"
)

// ranges reads the pages of a query from ranges of the postings.
type ranges struct {
	tx    *db.Tx
	order Order
	list  []span
	sort  bool // what was updated since is sorted; else the order is walked until enough was met
}

// find reads a page and the total. Where only the ranges decide, counters
// give the total; else a short page does, or they are counted.
func (f *ranges) find(offset, size int64) (found Found, err error) {
	found.Total = -1
	since := f.list[0].since != 0 && f.order.Sort != Updated
	switch {
	case !slices.ContainsFunc(f.list, func(s span) bool { return s.since != 0 || len(s.rest) > 0 }):
		found.Total = f.size()
	case since:
		if found.Total, err = f.count(); err != nil {
			return Found{}, err
		}
		f.sort = f.sortsBetter(found.Total, offset+size)
	}
	if found.Total >= 0 && offset >= found.Total {
		return found, nil
	}
	if found.IDs, err = f.page(offset, size); err != nil || found.Total >= 0 {
		return found, err
	}
	if n := int64(len(found.IDs)); n < size && (n > 0 || offset == 0) {
		found.Total = offset + n
		return found, nil
	}
	found.Total, err = f.total()
	return found, err
}

// total counts the issues in all ranges. A range from which a property takes issues out has the others: often
// few have that property, and of a whole repository their counter says how many.
func (f *ranges) total() (n int64, err error) {
	var all, less ranges
	all.tx, less.tx = f.tx, f.tx
	for _, s := range f.list {
		switch {
		case s.less == nil:
			all.list = append(all.list, s)
		case len(s.less.rest) == 0:
			n += s.n - s.less.n
		default:
			n += s.n
			less.list = append(less.list, *s.less)
		}
	}
	counted, err := all.count()
	if err != nil {
		return 0, err
	}
	taken, err := less.count()
	return n + counted - taken, err
}

// size is how many postings the ranges have.
func (f *ranges) size() (n int64) {
	for _, s := range f.list {
		n += s.n
	}
	return n
}

// sortsBetter reports whether to sort all that was updated since, rather than to
// walk the order until n of them were met. The youngest issues are those that
// were, the oldest are not.
func (f *ranges) sortsBetter(updated, n int64) bool {
	if f.order == (Order{Created, true}) {
		return updated <= f.size()/4
	}
	return float64(updated)*float64(updated) <= float64(n)*float64(f.size())
}

// maxTogether is how many ranges one statement reads.
const maxTogether = 60

// key is the place of an issue in an order.
type key struct {
	id    int64
	value int64 // updated_at or comments; 0 in the order of creation
}

// page reads the ids of a page. With more ranges than one statement reads, each
// part returns as many ids as the page may need.
func (f *ranges) page(offset, size int64) ([]int64, error) {
	if len(f.list) <= maxTogether {
		keys, err := f.read(f.list, offset, size)
		return idsIn(keys), err
	}
	var all []key
	for part := range slices.Chunk(f.list, maxTogether) {
		keys, err := f.read(part, 0, offset+size)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
		slices.SortFunc(all, f.order.compare)
		all = all[:min(int64(len(all)), offset+size)]
	}
	return idsIn(all[min(offset, int64(len(all))):]), nil
}

func idsIn(keys []key) []int64 {
	var list []int64
	for _, k := range keys {
		list = append(list, k.id)
	}
	return list
}

func (o Order) compare(a, b key) int {
	c := cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.id, b.id))
	if o.Asc {
		return c
	}
	return -c
}

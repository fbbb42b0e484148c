package index

import "cmp"

// merge is several selections as one list. It is a heap of cursors, the one that
// comes first at its root; not container/heap's, since calls through an interface
// take three times as long.
type merge struct {
	order   Order
	cursors []cursor
}

// cursor is where a merge is in one selection.
type cursor struct {
	x    *Index
	walk walk
	left int // how many issues there are from here on
	key  key // of the issue that comes next
}

// key is what an order compares.
type key struct {
	value int64 // 0 in the order of creation
	id    int64
}

// keyOf gives the key of an issue.
func (x *Index) keyOf(p place, by Sort) key {
	k := key{id: x.ids[p]}
	switch by {
	case Updated:
		k.value = x.updated[p]
	case Comments:
		k.value = int64(x.comments[p])
	}
	return k
}

// compare compares as the order does.
func (o Order) compare(a, b key) int {
	if !o.Asc {
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.id, b.id))
}

// newMerge begins at the first issue of all, to go n issues or more.
func newMerge(list []*Selection, o Order, n int) *merge {
	m := &merge{order: o}
	for _, s := range list {
		m.cursors = append(m.cursors, cursor{x: s.x, walk: *s.walk(o, n), left: s.n})
	}
	return m
}

// page gives the ids of a page.
func (m *merge) page(offset, size int) []int64 {
	offset = m.skip(offset)
	heap := m.cursors[:0]
	for _, c := range m.cursors {
		if m.next(&c) {
			heap = append(heap, c)
		}
	}
	m.cursors = heap
	for at := len(m.cursors)/2 - 1; at >= 0; at-- {
		m.sink(at)
	}
	ids := make([]int64, 0, size)
	for len(m.cursors) > 0 && len(ids) < size {
		c := &m.cursors[0]
		if offset > 0 {
			offset--
		} else {
			ids = append(ids, c.key.id)
		}
		if !m.next(c) {
			last := len(m.cursors) - 1
			m.cursors[0] = m.cursors[last]
			m.cursors = m.cursors[:last]
		}
		m.sink(0)
	}
	return ids
}

// next moves a cursor on to the next issue of its selection.
func (m *merge) next(c *cursor) bool {
	at, ok := c.walk.next()
	if ok {
		c.key = c.x.keyOf(at, m.order.Sort)
	}
	return ok
}

// sink moves a cursor down to where it belongs.
func (m *merge) sink(at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(m.cursors); child++ {
			if m.order.compare(m.cursors[child].key, m.cursors[first].key) < 0 {
				first = child
			}
		}
		if first == at {
			return
		}
		m.cursors[at], m.cursors[first] = m.cursors[first], m.cursors[at]
		at = first
	}
}

// near is how far a page may be to be gone to issue by issue, which looks at the
// key of each.
const near = 256

// skip moves all cursors forward together until the page is near, and returns how
// far it still is. Each step takes the key some way ahead of one cursor, and
// counts what the others have up to there: the keys in between are not looked at.
func (m *merge) skip(offset int) int {
	for offset > near {
		j, step := m.stride(offset)
		for ; step > 0; step /= 2 {
			ahead := m.cursors[j].walk
			ahead.skip(step - 1)
			at, ok := ahead.next()
			if !ok {
				continue
			}
			if n, ok := m.pass(m.cursors[j].x.keyOf(at, m.order.Sort), offset); ok {
				offset -= n
				break
			}
		}
		if step == 0 {
			return offset
		}
	}
	return offset
}

// stride chooses the cursor with the most issues left, and a step in it that takes
// all of them about as far as the page is, if they are mixed evenly.
func (m *merge) stride(offset int) (j, step int) {
	all := 0
	for n, c := range m.cursors {
		all += c.left
		if c.left > m.cursors[j].left {
			j = n
		}
	}
	left := m.cursors[j].left
	return j, min(left, max(1, int(float64(offset)*float64(left)/float64(max(1, all))*0.97)-near/8))
}

// pass moves all cursors past a key, unless those are more issues than n.
func (m *merge) pass(k key, n int) (passed int, ok bool) {
	moved := make([]cursor, len(m.cursors))
	for at, c := range m.cursors {
		count := c.walk.pass(c.x, m.order, k)
		passed += count
		if passed > n {
			return 0, false
		}
		c.left -= count
		moved[at] = c
	}
	m.cursors = moved
	return passed, true
}

package index

import (
	"math/bits"
	"slices"
)

// Page gives the ids of a page of what was chosen from one index or several, in
// an order.
func Page(list []*Selection, o Order, offset, size int) []int64 {
	list = slices.DeleteFunc(slices.Clone(list), func(s *Selection) bool { return s.n == 0 })
	if len(list) == 1 {
		return list[0].page(o, offset, size)
	}
	m := merge{order: o, cursors: make([]cursor, 0, len(list))}
	for _, s := range list {
		c := cursor{x: s.x, walk: s.walk(o, offset+size)}
		if m.next(&c) {
			m.cursors = append(m.cursors, c)
		}
	}
	for at := len(m.cursors)/2 - 1; at >= 0; at-- {
		m.sink(at)
	}
	ids := make([]int64, 0, size)
	for len(m.cursors) > 0 && len(ids) < size {
		c := &m.cursors[0]
		if offset > 0 {
			offset--
		} else {
			ids = append(ids, c.id)
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

// page is Page for one selection.
func (s *Selection) page(o Order, offset, size int) []int64 {
	if offset >= s.n {
		return nil
	}
	size = min(size, s.n-offset)
	ids := make([]int64, 0, size)
	w := s.walk(o, offset+size)
	if w.bits != nil {
		w.skip(offset)
	} else if w.chosen == nil {
		w.at += offset * w.step
	} else {
		for range offset {
			w.next()
		}
	}
	for len(ids) < size {
		p, ok := w.next()
		if !ok {
			break
		}
		ids = append(ids, s.x.ids[p])
	}
	return ids
}

// walk goes through the places of a selection in an order: along a list, from
// which it leaves out what was not chosen, or along bits.
type walk struct {
	list   []place
	chosen bitmap // nil: the whole list
	at     int
	step   int // 1 or -1

	bits bitmap // instead of the list
	word uint64 // what is left of the word at
}

// walk begins at the first place, to go n places or more: where those are a
// small part of what was chosen, it may end after them.
func (s *Selection) walk(o Order, n int) *walk {
	w := &walk{step: 1}
	if !o.Asc {
		w.step = -1
	}
	switch {
	case o.Sort == Created && s.many != nil:
		w.bits = s.many
		if !o.Asc {
			w.at = len(w.bits) - 1
		}
		if len(w.bits) > 0 {
			w.word = w.bits[w.at]
		}
		return w
	case o.Sort == Created:
		w.list = s.few
	case s.sorts(n):
		w.list = s.sorted(o, n)
	default:
		w.list, w.chosen = s.x.byUpdated, s.bits()
		if o.Sort == Comments {
			w.list = s.x.byComments
		}
	}
	if !o.Asc {
		w.at = len(w.list) - 1
	}
	return w
}

// sorts tells whether to sort what was chosen rather than to go through all
// issues in the order until n of them were met.
func (s *Selection) sorts(n int) bool {
	const few = 100
	steps, effort := min(n*len(s.x.ids)/s.n, len(s.x.ids)), 24 // of a place that is sorted, in steps
	if n < s.n/4 {
		effort = 8
	}
	return s.n <= few || effort*s.n < steps
}

// sorted gives what was chosen in a growing order. Where only the first or last n
// count, it may give no others.
func (s *Selection) sorted(o Order, n int) []place {
	compare := s.x.compareUpdated
	if o.Sort == Comments {
		compare = s.x.compareComments
	}
	list := slices.Clone(s.places())
	if n < len(list)/4 {
		list = extreme(list, n, func(a, b place) int {
			if o.Asc {
				return compare(a, b)
			}
			return compare(b, a)
		})
	}
	slices.SortFunc(list, compare)
	return list
}

// extreme moves the n first places of an order to the front, and gives those.
func extreme(list []place, n int, compare func(a, b place) int) []place {
	low, high := 0, len(list)
	for high-low > 1 {
		// The middle of three keeps lists that are sorted already from taking long.
		a, b, c := list[low], list[(low+high)/2], list[high-1]
		pivot := middle(a, b, c, compare)
		at := low
		for i := low; i < high; i++ {
			if compare(list[i], pivot) < 0 {
				list[i], list[at] = list[at], list[i]
				at++
			}
		}
		switch {
		case at >= n && at > low:
			high = at
		case at < n && at > low:
			low = at
		default: // the pivot is the first of what is left
			for i := low; i < high; i++ {
				if list[i] == pivot {
					list[low], list[i] = list[i], list[low]
				}
			}
			low++
		}
		if low >= n {
			break
		}
	}
	return list[:n]
}

// middle gives the middle one of three places.
func middle(a, b, c place, compare func(a, b place) int) place {
	if compare(a, b) > 0 {
		a, b = b, a
	}
	if compare(b, c) > 0 {
		b = c
	}
	if compare(a, b) > 0 {
		return a
	}
	return b
}

// next gives a place and moves on.
func (w *walk) next() (p place, ok bool) {
	if w.bits != nil {
		return w.nextBit()
	}
	for w.at >= 0 && w.at < len(w.list) {
		p = w.list[w.at]
		w.at += w.step
		if w.chosen == nil || w.chosen.has(p) {
			return p, true
		}
	}
	return 0, false
}

func (w *walk) nextBit() (place, bool) {
	for w.word == 0 {
		w.at += w.step
		if w.at < 0 || w.at >= len(w.bits) {
			w.at -= w.step
			return 0, false
		}
		w.word = w.bits[w.at]
	}
	bit := bits.TrailingZeros64(w.word)
	if w.step < 0 {
		bit = 63 - bits.LeadingZeros64(w.word)
	}
	w.word &^= 1 << bit
	return place(w.at*64 + bit), true
}

// skip moves on by n bits, a word at a time.
func (w *walk) skip(n int) {
	for n > 0 {
		if c := bits.OnesCount64(w.word); c <= n {
			n -= c
			w.word = 0
			if w.at+w.step < 0 || w.at+w.step >= len(w.bits) {
				return
			}
			w.at += w.step
			w.word = w.bits[w.at]
			continue
		}
		w.nextBit()
		n--
	}
}

// cursor is where a merge is in one selection.
type cursor struct {
	x         *Index
	walk      *walk
	value, id int64
}

// merge is a heap of cursors, the one that comes first at its root. It goes
// through tens of thousands of issues before a deep page, which is why it is not
// container/heap's: calls through an interface take three times as long.
type merge struct {
	order   Order
	cursors []cursor
}

// next moves a cursor on to the next issue of its selection.
func (m *merge) next(c *cursor) bool {
	at, ok := c.walk.next()
	if !ok {
		return false
	}
	c.id = c.x.ids[at]
	switch m.order.Sort {
	case Updated:
		c.value = c.x.updated[at]
	case Comments:
		c.value = int64(c.x.comments[at])
	}
	return true
}

// before compares as the order does.
func (m *merge) before(a, b *cursor) bool {
	if !m.order.Asc {
		a, b = b, a
	}
	return a.value < b.value || a.value == b.value && a.id < b.id
}

// sink moves a cursor down to where it belongs.
func (m *merge) sink(at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(m.cursors); child++ {
			if m.before(&m.cursors[child], &m.cursors[first]) {
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

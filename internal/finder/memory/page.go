package memory

import (
	"slices"

	"arbor/internal/finder"
)

// page reads a page of what was chosen from one index or several, from the nearer
// end.
func page(list []*selection, o finder.Order, offset, size int) (found Found) {
	list = slices.DeleteFunc(list, func(s *selection) bool { return s.n == 0 })
	for _, s := range list {
		found.Total += int64(s.n)
	}
	total := int(found.Total)
	offset = min(offset, total)
	size = min(size, total-offset)
	if size == 0 {
		return found
	}
	backwards := offset > total/2
	if backwards {
		o.Asc, offset = !o.Asc, total-offset-size
	}
	m := newMerge(list, o, offset+size)
	m.skip(offset)
	found.IDs, found.Changed = make([]int64, 0, size), make([]int64, 0, size)
	for len(found.IDs) < size {
		x, p := m.next()
		found.IDs, found.Changed = append(found.IDs, x.ids[p]), append(found.Changed, x.changed[p])
	}
	if backwards {
		slices.Reverse(found.IDs)
		slices.Reverse(found.Changed)
	}
	return found
}

// walk goes through the issues of a selection in an order.
type walk struct {
	*selection
	list []place // in the order; nil: it is that of the places
	at   int     // in the list, or a place
	step int     // 1 or -1

	place place // of the issue that comes next, and its key
	key   key
}

// walk begins at the first place of an order, to go n places or more.
func (s *selection) walk(o finder.Order, n int) walk {
	w := walk{selection: s, step: 1}
	end := 64 * len(s.in)
	if o.Sort != finder.Created {
		w.list = s.listIn(o.Sort, n)
		end = len(w.list)
	}
	if !o.Asc {
		w.step, w.at = -1, end-1
	}
	return w
}

// sortEffort is how many steps along an order it takes to sort one issue.
const sortEffort = 60

// listIn is a list in an order with all that was chosen: what was chosen alone,
// sorted, where that is less than to go through the order until n were met.
func (s *selection) listIn(by finder.Sort, n int) []place {
	list, compare := s.x.byUpdated, s.x.compareUpdated
	if by == finder.Comments {
		list, compare = s.x.byComments, s.x.compareComments
	}
	if sortEffort*s.n > min(len(list), n*len(list)/s.n) {
		return list
	}
	chosen := make([]place, 0, s.n)
	s.in.each(func(p place) { chosen = append(chosen, p) })
	slices.SortFunc(chosen, compare)
	return chosen
}

// next moves on to the next issue; false: there is none.
func (w *walk) next(by finder.Sort) bool {
	if w.list == nil {
		p, ok := w.in.next(w.at, w.step)
		if !ok {
			return false
		}
		w.place, w.at = place(p), p+w.step
	} else {
		for ; ; w.at += w.step {
			if w.at < 0 || w.at >= len(w.list) {
				return false
			}
			if w.in.has(w.list[w.at]) {
				break
			}
		}
		w.place = w.list[w.at]
		w.at += w.step
	}
	w.key = w.x.keyOf(w.place, by)
	return true
}

// skip moves on by n issues.
func (w *walk) skip(n int, by finder.Sort) {
	switch {
	case w.list == nil:
		w.at = w.in.skip(w.at, w.step, n)
	case len(w.list) == w.n: // all were chosen
		w.at += n * w.step
	default:
		for range n {
			w.next(by)
		}
	}
}

// merge is several selections as one list: a heap of walks, the one that comes
// first at its root. It is not container/heap's, whose calls through an interface
// take three times as long.
type merge struct {
	order finder.Order
	walks []walk
}

// newMerge begins at the first issue of all, to go n issues or more.
func newMerge(list []*selection, o finder.Order, n int) *merge {
	m := &merge{order: o}
	for _, s := range list {
		m.walks = append(m.walks, s.walk(o, n))
	}
	return m
}

// skip moves on by n issues, before next is called.
func (m *merge) skip(n int) {
	if len(m.walks) == 1 {
		m.walks[0].skip(n, m.order.Sort)
		n = 0
	}
	for at := range m.walks {
		m.walks[at].next(m.order.Sort)
	}
	for at := len(m.walks)/2 - 1; at >= 0; at-- {
		m.sink(at)
	}
	for range n {
		m.next()
	}
}

// next gives the next issue, of which there must be one.
func (m *merge) next() (*index, place) {
	w := &m.walks[0]
	x, p := w.x, w.place
	if !w.next(m.order.Sort) {
		last := len(m.walks) - 1
		m.walks[0] = m.walks[last]
		m.walks = m.walks[:last]
	}
	m.sink(0)
	return x, p
}

// sink moves a walk down to where it belongs.
func (m *merge) sink(at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(m.walks); child++ {
			if before(m.order, m.walks[child].key, m.walks[first].key) {
				first = child
			}
		}
		if first == at {
			return
		}
		m.walks[at], m.walks[first] = m.walks[first], m.walks[at]
		at = first
	}
}

package index

import (
	"slices"
)

// Query chooses issues that have all of some properties and none of others.
type Query struct {
	Has, Lacks   []Property
	Open, Closed bool  // which states
	Since        int64 // updated at or after, in microseconds; 0: whenever
}

// Selection is what a query chose. It is used while the index stays as it is.
type Selection struct {
	x    *Index
	n    int
	few  []place // growing, when many is nil
	many bitmap
}

// Total is the number of issues that were chosen.
func (s *Selection) Total() int { return s.n }

// Select chooses.
func (x *Index) Select(q Query) *Selection {
	s := &Selection{x: x}
	sets := make([]*set, 0, len(q.Has))
	for _, p := range q.Has {
		found := x.sets[p]
		if found == nil {
			return s
		}
		sets = append(sets, found)
	}
	slices.SortFunc(sets, func(a, b *set) int { return a.n - b.n })
	recent := x.since(q.Since)
	switch {
	case len(recent) <= len(x.ids)/dense && (len(sets) == 0 || len(recent) <= sets[0].n):
		s.few = slices.Sorted(slices.Values(recent))
		s.narrow(sets, q, false)
	case len(sets) > 0 && sets[0].many == nil:
		s.few = slices.Clone(sets[0].few)
		s.narrow(sets[1:], q, true)
	default:
		s.sift(sets, q, recent)
	}
	return s
}

// since are the issues that were updated since, oldest first; all for 0.
func (x *Index) since(t int64) []place {
	if t == 0 {
		return x.byUpdated
	}
	at, _ := slices.BinarySearchFunc(x.byUpdated, t, func(p place, t int64) int {
		if x.updated[p] < t {
			return -1
		}
		return 1
	})
	return x.byUpdated[at:]
}

// narrow drops from a few issues those that the query does not choose.
func (s *Selection) narrow(sets []*set, q Query, since bool) {
	lacks := s.lacking(q)
	if q.Open != q.Closed && len(sets)+len(lacks) == 0 && (!since || q.Since == 0) { // most lists
		kept := s.few[:0]
		for _, p := range s.few {
			if s.x.closed.has(p) == q.Closed {
				kept = append(kept, p)
			}
		}
		s.few, s.n = kept, len(kept)
		return
	}
	s.few = slices.DeleteFunc(s.few, func(p place) bool {
		if !q.Open && !s.x.closed.has(p) || !q.Closed && s.x.closed.has(p) || since && s.x.updated[p] < q.Since {
			return true
		}
		for _, has := range sets {
			if !has.has(p) {
				return true
			}
		}
		return slices.ContainsFunc(lacks, func(l *set) bool { return l.has(p) })
	})
	s.n = len(s.few)
}

func (s *Selection) lacking(q Query) []*set {
	var list []*set
	for _, p := range q.Lacks {
		if l := s.x.sets[p]; l != nil {
			list = append(list, l)
		}
	}
	return list
}

// sift chooses where each of the sets is large.
func (s *Selection) sift(sets []*set, q Query, recent []place) {
	s.many = full(len(s.x.ids))
	for _, has := range sets {
		s.many.and(has.bits())
	}
	if !q.Closed {
		s.many.without(s.x.closed)
	}
	if !q.Open {
		s.many.and(s.x.closed)
	}
	if old := s.x.byUpdated[:len(s.x.ids)-len(recent)]; len(old) < len(recent) {
		for _, p := range old {
			s.many[p/64] &^= 1 << (p % 64)
		}
	} else {
		fresh := make(bitmap, len(s.many))
		for _, p := range recent {
			fresh[p/64] |= 1 << (p % 64)
		}
		s.many.and(fresh)
	}
	for _, l := range s.lacking(q) {
		s.many.without(l.bits())
	}
	s.n = s.many.count()
}

// places are all that were chosen, growing.
func (s *Selection) places() []place {
	if s.many == nil {
		return s.few
	}
	list := make([]place, 0, s.n)
	s.many.each(func(p place) { list = append(list, p) })
	return list
}

// bits are all that were chosen, as bits.
func (s *Selection) bits() bitmap {
	if s.many != nil {
		return s.many
	}
	b := make(bitmap, (len(s.x.ids)+63)/64)
	for _, p := range s.few {
		b[p/64] |= 1 << (p % 64)
	}
	return b
}

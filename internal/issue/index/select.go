package index

import (
	"math/bits"
	"slices"
)

// Query chooses issues that have all of some properties and none of others.
type Query struct {
	Has, Lacks   []Property
	Open, Closed bool  // which states
	Since        int64 // updated at or after, in microseconds; 0: whenever
}

// Selection is what a query chose. It is used while the index stays as it is.
//
// It is a list where one is at hand, or else whatever is in each of some bitmaps;
// and of that what is in none of others. Nothing is copied before it must be: most
// lists are first pages, which look at a few issues of many.
type Selection struct {
	x     *Index
	n     int
	list  []place  // growing; nil where bits say all
	every []bitmap // in each of which all chosen ones are
	none  []bitmap // in which none is
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
	if !q.Closed {
		s.none = append(s.none, x.closed)
	}
	if !q.Open {
		s.every = append(s.every, x.closed)
	}
	for _, p := range q.Lacks {
		if l := x.sets[p]; l != nil {
			s.none = append(s.none, l.bits())
		}
	}
	if len(sets) == 1 && q.Since == 0 && len(q.Lacks) == 0 {
		s.one(sets[0], q)
		return s
	}
	s.several(sets, x.since(q.Since))
	return s
}

// one chooses by a single property, of which everything is counted.
func (s *Selection) one(has *set, q Query) {
	switch {
	case !q.Open:
		s.n = has.closed
	case !q.Closed:
		s.n = has.n - has.closed
	default:
		s.n = has.n
	}
	if s.list = has.few; has.many != nil {
		s.every = append(s.every, has.many)
	}
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

// several chooses by several properties, and what was updated lately.
func (s *Selection) several(sets []*set, recent []place) {
	few := len(recent) <= len(s.x.ids)/dense && (len(sets) == 0 || len(recent) <= sets[0].n)
	switch {
	case few:
		s.list = append([]place{}, recent...)
		slices.Sort(s.list)
	case len(sets) > 0 && sets[0].many == nil:
		s.list, sets = slices.Clone(sets[0].few), sets[1:]
		fallthrough
	default:
		s.update(recent)
	}
	for _, has := range sets {
		if has.many == nil && s.list != nil {
			continue // cheaper looked up in its list
		}
		s.every = append(s.every, has.bits())
	}
	if s.list == nil {
		s.count()
		return
	}
	s.list = slices.DeleteFunc(s.list, func(p place) bool {
		return !s.lets(p) || slices.ContainsFunc(sets, func(has *set) bool { return has.many == nil && !has.has(p) })
	})
	s.n, s.every, s.none = len(s.list), nil, nil
}

// update leaves what is recent: unless that is all, as bits of what it is, or of
// what it is not.
func (s *Selection) update(recent []place) {
	old := s.x.byUpdated[:len(s.x.ids)-len(recent)]
	if len(old) == 0 {
		return
	}
	b := make(bitmap, (len(s.x.ids)+63)/64)
	if len(old) < len(recent) {
		s.none, recent = append(s.none, b), old
	} else {
		s.every = append(s.every, b)
	}
	for _, p := range recent {
		b[p/64] |= 1 << (p % 64)
	}
}

// lets tells whether the bits let a place through.
func (s *Selection) lets(p place) bool {
	for _, b := range s.every {
		if !b.has(p) {
			return false
		}
	}
	for _, b := range s.none {
		if b.has(p) {
			return false
		}
	}
	return true
}

// words is the number of words that word knows.
func (s *Selection) words() int { return (len(s.x.ids) + 63) / 64 }

// word is 64 places of what the bits choose.
func (s *Selection) word(w int) uint64 {
	v := ^uint64(0)
	if rest := len(s.x.ids) - 64*w; rest < 64 {
		v = 1<<rest - 1
	}
	for _, b := range s.every {
		v &= b.word(w)
	}
	for _, b := range s.none {
		v &^= b.word(w)
	}
	return v
}

func (s *Selection) count() {
	for w := range s.words() {
		s.n += bits.OnesCount64(s.word(w))
	}
}

// places are all that were chosen, growing; the caller may change them.
func (s *Selection) places() []place {
	list := make([]place, 0, s.n)
	if s.list != nil {
		for _, p := range s.list {
			if s.lets(p) {
				list = append(list, p)
			}
		}
		return list
	}
	for w := range s.words() {
		for word := s.word(w); word != 0; word &= word - 1 {
			list = append(list, place(w*64+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// bits are all that were chosen, as bits.
func (s *Selection) bits() bitmap {
	b := make(bitmap, s.words())
	if s.list == nil {
		for w := range b {
			b[w] = s.word(w)
		}
		return b
	}
	for _, p := range s.list {
		if s.lets(p) {
			b[p/64] |= 1 << (p % 64)
		}
	}
	return b
}

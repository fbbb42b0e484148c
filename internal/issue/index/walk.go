package index

import (
	"math/bits"
	"slices"
	"sort"
)

// walk goes through the places of a selection in an order: along a list, from
// which it leaves out what was not chosen, or along the selection's own bits.
type walk struct {
	list   []place
	lets   *Selection // whose bits choose from the list; nil: not they
	chosen bitmap     // chooses from the list; nil: not it
	at     int
	step   int // 1 or -1

	bits *Selection // instead of the list
	word uint64     // what is left of the word at
}

// manyPlaces is how far a walk goes at least before it is worth to make bits of
// its own of what was chosen.
const manyPlaces = 500

// walk begins at the first place, to go n places or more: where those are a
// small part of what was chosen, it may end after them.
func (s *Selection) walk(o Order, n int) *walk {
	w := &walk{step: 1}
	if !o.Asc {
		w.step = -1
	}
	switch {
	case o.Sort == Created && s.list == nil:
		w.bits = s
		if !o.Asc {
			w.at = s.words() - 1
		}
		if s.words() > 0 {
			w.word = s.word(w.at)
		}
		return w
	case o.Sort == Created:
		w.list, w.lets = s.list, s
	case s.sorts(n):
		w.list = s.sorted(o, n)
	default:
		if w.list = s.x.byUpdated; o.Sort == Comments {
			w.list = s.x.byComments
		}
		if w.lets = s; s.list != nil || n > manyPlaces {
			w.lets, w.chosen = nil, s.bits()
		}
	}
	if !o.Asc {
		w.at = len(w.list) - 1
	}
	if w.lets != nil && len(s.every)+len(s.none) == 0 {
		w.lets = nil
	}
	return w
}

// is tells whether a place of the list was chosen.
func (w *walk) is(p place) bool {
	return (w.lets == nil || w.lets.lets(p)) && (w.chosen == nil || w.chosen.has(p))
}

// whole says that the whole list was chosen.
func (w *walk) whole() bool { return w.lets == nil && w.chosen == nil }

// sorts tells whether to sort what was chosen rather than to go through all
// issues in the order until n of them were met.
func (s *Selection) sorts(n int) bool {
	const few = 100
	steps, effort := min(n*len(s.x.ids)/s.n, len(s.x.ids)), 100 // of a place that is sorted, in steps
	if n < s.n/4 {
		effort = 20
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
	list := s.places()
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
		if w.is(p) {
			return p, true
		}
	}
	return 0, false
}

func (w *walk) nextBit() (place, bool) {
	for w.word == 0 {
		w.at += w.step
		if w.at < 0 || w.at >= w.bits.words() {
			w.at -= w.step
			return 0, false
		}
		w.word = w.bits.word(w.at)
	}
	bit := bits.TrailingZeros64(w.word)
	if w.step < 0 {
		bit = 63 - bits.LeadingZeros64(w.word)
	}
	w.word &^= 1 << bit
	return place(w.at*64 + bit), true
}

// skip moves on by n places, or to the end.
func (w *walk) skip(n int) {
	switch {
	case w.bits != nil:
		w.skipBits(n)
	case w.whole():
		w.at += n * w.step
	default:
		for range n {
			if _, ok := w.next(); !ok {
				return
			}
		}
	}
}

// skipBits is skip along bits, a word at a time.
func (w *walk) skipBits(n int) {
	for n > 0 {
		if c := bits.OnesCount64(w.word); c <= n {
			n -= c
			w.word = 0
			if w.at+w.step < 0 || w.at+w.step >= w.bits.words() {
				return
			}
			w.at += w.step
			w.word = w.bits.word(w.at)
			continue
		}
		w.nextBit()
		n--
	}
}

// pass moves on to the first place that comes after a key in the order, and
// returns how many it passed.
func (w *walk) pass(x *Index, o Order, k key) (n int) {
	if w.bits != nil {
		return w.passBits(x, k)
	}
	rest := w.list[max(0, min(w.at, len(w.list))):]
	if w.step < 0 {
		rest = w.list[:w.at+1]
	}
	// Along the list from where the walk is, the first that comes after the key.
	ahead := sort.Search(len(rest), func(i int) bool {
		p := rest[i]
		if w.step < 0 {
			p = rest[len(rest)-1-i]
		}
		return o.compare(x.keyOf(p, o.Sort), k) > 0
	})
	w.at += ahead * w.step
	if w.whole() {
		return ahead
	}
	passed := rest[:ahead]
	if w.step < 0 {
		passed = rest[len(rest)-ahead:]
	}
	for _, p := range passed {
		n += one(w.is(p))
	}
	return n
}

// passBits is pass along bits, whose order is that of the ids.
func (w *walk) passBits(x *Index, k key) (n int) {
	at, found := slices.BinarySearch(x.ids, k.id)
	if w.step > 0 && found {
		at++ // the first place after the key
	}
	// Going down, all places from at on are passed; going up, all before it.
	word, mask := at/64, uint64(1)<<(at%64)-1
	if w.step < 0 {
		word, mask = at/64, ^mask
	}
	for w.at != word {
		n += bits.OnesCount64(w.word)
		w.word = 0
		if w.at+w.step < 0 || w.at+w.step >= w.bits.words() || (word-w.at)*w.step < 0 {
			return n
		}
		w.at += w.step
		w.word = w.bits.word(w.at)
	}
	n += bits.OnesCount64(w.word & mask)
	w.word &^= mask
	return n
}

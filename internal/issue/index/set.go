package index

import (
	"math/bits"
	"slices"
)

// dense is one in how many issues a set holds when bits take less room than a
// list.
const dense = 32

// set is a set of places: a growing list while they are few, bits when they are
// many.
type set struct {
	n      int
	closed int     // how many of them are of closed issues
	few    []place // when many is nil
	many   bitmap
}

// newSet makes a set of growing places out of so many.
func newSet(places []place, of int) *set {
	s := &set{n: len(places), few: places}
	s.choose(of)
	return s
}

// choose changes the form where the other one is smaller, by some margin so that
// it does not change back at once.
func (s *set) choose(of int) {
	switch {
	case s.many == nil && s.n > 64 && s.n*dense > of+of/4:
		for _, p := range s.few {
			s.many.put(p, true)
		}
		s.few = nil
	case s.many != nil && s.n*dense < of/2:
		few := make([]place, 0, s.n)
		s.many.each(func(p place) { few = append(few, p) })
		s.few, s.many = few, nil
	}
}

func (s *set) has(p place) bool {
	if s.many != nil {
		return s.many.has(p)
	}
	_, ok := slices.BinarySearch(s.few, p)
	return ok
}

// add puts a place into the set, which has it not, out of so many.
func (s *set) add(p place, of int) {
	if s.many != nil {
		s.many.put(p, true)
	} else if at, ok := slices.BinarySearch(s.few, p); !ok {
		s.few = slices.Insert(s.few, at, p)
	}
	s.n++
	s.choose(of)
}

// remove takes out a place that the set has.
func (s *set) remove(p place) {
	if s.many != nil {
		s.many.put(p, false)
	} else if at, ok := slices.BinarySearch(s.few, p); ok {
		s.few = slices.Delete(s.few, at, at+1)
	}
	s.n--
}

// bits is the set as bits, which may be its own.
func (s *set) bits() bitmap {
	if s.many != nil {
		return s.many
	}
	var b bitmap
	for _, p := range s.few {
		b.put(p, true)
	}
	return b
}

// bitmap is a set of places, a bit each.
type bitmap []uint64

func (b bitmap) has(p place) bool {
	w := int(p / 64)
	return w < len(b) && b[w]>>(p%64)&1 != 0
}

func (b *bitmap) put(p place, in bool) {
	w := int(p / 64)
	if w >= len(*b) {
		if !in {
			return
		}
		*b = append(*b, make([]uint64, w+1-len(*b))...)
	}
	if in {
		(*b)[w] |= 1 << (p % 64)
	} else {
		(*b)[w] &^= 1 << (p % 64)
	}
}

// each calls fn with each place, growing.
func (b bitmap) each(fn func(p place)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(place(w*64 + bits.TrailingZeros64(word)))
		}
	}
}

// word is 64 places of the set.
func (b bitmap) word(w int) uint64 {
	if w < len(b) {
		return b[w]
	}
	return 0
}

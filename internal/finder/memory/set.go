package memory

import (
	"slices"
	"unsafe"
)

// dense is one in how many issues a set holds when bits take less room than a
// list.
const dense = 32

// set is the issues that have a property: a growing list while they are few, bits
// when they are many.
type set struct {
	n    int
	few  []place // where many is nil
	many bits
}

// setBytes is what a set takes besides its places.
const setBytes = int(unsafe.Sizeof(set{}))

func (s *set) bytes() int { return 4*cap(s.few) + 8*cap(s.many) }

// choose changes the form where the other one is smaller, by some margin so that
// it does not change back at once. There are so many issues.
func (s *set) choose(of int) {
	switch {
	case s.many == nil && s.n > 64 && s.n*dense > of+of/4:
		s.many = s.bits(of)
		s.few = nil
	case s.many != nil && s.n*dense < of/2:
		s.few = make([]place, 0, s.n)
		s.many.each(func(p place) { s.few = append(s.few, p) })
		s.many = nil
	}
}

// add puts a place into the set, which has it not.
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

// bits is the set as bits, perhaps its own: they are not to be changed.
func (s *set) bits(of int) bits {
	if s.many != nil {
		return s.many
	}
	b := newBits(of)
	for _, p := range s.few {
		b.set(p)
	}
	return b
}

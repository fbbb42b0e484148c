package memory

import mathbits "math/bits"

// bits is a set of places, a bit each. What is beyond its end is not in it.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

// allBits are the places below n.
func allBits(n int) bits {
	b := newBits(n)
	for w := range b {
		b[w] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
	return b
}

func (b bits) has(p place) bool {
	w := int(p / 64)
	return w < len(b) && b[w]>>(p%64)&1 != 0
}

func (b bits) set(p place) { b[p/64] |= 1 << (p % 64) }

// put makes room for a place, and puts it in or takes it out.
func (b *bits) put(p place, in bool) {
	for int(p/64) >= len(*b) {
		*b = append(*b, 0)
	}
	if in {
		b.set(p)
	} else {
		(*b)[p/64] &^= 1 << (p % 64)
	}
}

// and leaves what is in the other set, too.
func (b bits) and(other bits) {
	n := min(len(b), len(other))
	for w, word := range other[:n] {
		b[w] &= word
	}
	clear(b[n:])
}

// or adds what is in the other set.
func (b bits) or(other bits) {
	for w, word := range other[:min(len(b), len(other))] {
		b[w] |= word
	}
}

// without takes out what is in the other set.
func (b bits) without(other bits) {
	for w, word := range other[:min(len(b), len(other))] {
		b[w] &^= word
	}
}

func (b bits) count() (n int) {
	for _, word := range b {
		n += mathbits.OnesCount64(word)
	}
	return n
}

// each calls fn with each place, growing.
func (b bits) each(fn func(p place)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(place(w*64 + mathbits.TrailingZeros64(word)))
		}
	}
}

// next gives the first place in the set from one on, up or down.
func (b bits) next(from, step int) (p int, ok bool) {
	for from >= 0 && from < 64*len(b) {
		word := b[from/64]
		if step > 0 {
			if word >>= from % 64; word != 0 {
				return from + mathbits.TrailingZeros64(word), true
			}
			from = from/64*64 + 64
			continue
		}
		if word <<= 63 - from%64; word != 0 {
			return from - mathbits.LeadingZeros64(word), true
		}
		from = from/64*64 - 1
	}
	return 0, false
}

// skip gives where to go on from one place behind the next n in the set.
func (b bits) skip(from, step, n int) int {
	for n > 0 && from >= 0 && from < 64*len(b) {
		word, end := b[from/64]>>(from%64), from/64*64+64
		if step < 0 {
			word, end = b[from/64]<<(63-from%64), from/64*64-1
		}
		if c := mathbits.OnesCount64(word); c <= n {
			n, from = n-c, end
			continue
		}
		p, _ := b.next(from, step)
		n, from = n-1, p+step
	}
	return from
}

package memory

import (
	"slices"
	"sort"

	"arbor/internal/finder"
	"arbor/internal/posting"
	"arbor/internal/tracker"
)

// knows reports whether indexes hold all that a tree asks for.
func knows(e finder.Expr) bool {
	switch e := e.(type) {
	case finder.And:
		return !slices.ContainsFunc(e, func(e finder.Expr) bool { return !knows(e) })
	case finder.Or:
		return !slices.ContainsFunc(e, func(e finder.Expr) bool { return !knows(e) })
	case finder.Not:
		return knows(e.Expr)
	case finder.Has:
		return holds(e.Kind)
	case finder.InState:
		return true
	case finder.Between:
		return e.Field == finder.UpdatedAt || e.Field == finder.CommentCount
	}
	return false
}

// selection is the issues of an index that meet a tree, while the index stays as
// it is.
type selection struct {
	x  *index
	in bits
	n  int
}

// choose finds the issues that meet a tree which the index knows.
func (x *index) choose(e finder.Expr) *selection {
	in := x.bits(e)
	return &selection{x, in, in.count()}
}

// bits are the places of issues that meet a tree. They are not to be changed: they
// may be those of a set.
func (x *index) bits(e finder.Expr) bits {
	switch e := e.(type) {
	case finder.And:
		all := allBits(len(x.ids))
		for _, e := range e {
			if not, ok := e.(finder.Not); ok {
				all.without(x.bits(not.Expr))
			} else if e == finder.InState(tracker.Open) {
				all.without(x.closed)
			} else {
				all.and(x.bits(e))
			}
		}
		return all
	case finder.Or:
		return x.either(len(e), func(n int) bits { return x.bits(e[n]) })
	case finder.Has:
		return x.either(len(e.Values), func(n int) bits { return x.with(e.Kind.Of(e.Values[n])) })
	case finder.Not, finder.InState:
		if e == finder.InState(tracker.Closed) {
			return x.closed
		}
		return x.bits(finder.And{e})
	case finder.Between:
		return x.between(e)
	}
	return nil
}

// either gives what is in one of several sets.
func (x *index) either(n int, at func(n int) bits) bits {
	if n == 1 {
		return at(0)
	}
	all := newBits(len(x.ids))
	for i := range n {
		all.or(at(i))
	}
	return all
}

// with are the issues that have a property.
func (x *index) with(p posting.Property) bits {
	if n, ok := x.numbers[p]; ok {
		return x.sets[n].bits(len(x.ids))
	}
	return nil
}

// between are the issues whose field lies in a span: a part of one of the orders.
func (x *index) between(e finder.Between) bits {
	list, value := x.byUpdated, func(p place) int64 { return x.updated[p] }
	if e.Field == finder.CommentCount {
		list, value = x.byComments, func(p place) int64 { return int64(x.comments[p]) }
	}
	from := sort.Search(len(list), func(i int) bool { return value(list[i]) >= e.From })
	to := max(from, sort.Search(len(list), func(i int) bool { return value(list[i]) >= e.To }))
	if to-from > len(list)/2 { // fewer are outside
		all := allBits(len(x.ids))
		for _, part := range [][]place{list[:from], list[to:]} {
			for _, p := range part {
				all[p/64] &^= 1 << (p % 64)
			}
		}
		return all
	}
	in := newBits(len(x.ids))
	for _, p := range list[from:to] {
		in.set(p)
	}
	return in
}

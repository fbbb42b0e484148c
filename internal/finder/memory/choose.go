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
	in, _ := x.bits(e)
	return &selection{x, in, in.count()}
}

// bits are the places of issues that meet a tree. They may be those of a set: only
// where own is true the caller may change them.
func (x *index) bits(e finder.Expr) (in bits, own bool) {
	switch e := e.(type) {
	case finder.And:
		return x.every(e)
	case finder.Or:
		return x.either(len(e), func(n int) (bits, bool) { return x.bits(e[n]) })
	case finder.Not:
		out, _ := x.bits(e.Expr)
		in = allBits(len(x.ids))
		in.without(out)
		return in, true
	case finder.Has:
		return x.either(len(e.Values), func(n int) (bits, bool) { return x.with(e.Kind.Of(e.Values[n])) })
	case finder.InState:
		if tracker.State(e) == tracker.Closed {
			return x.closed, false
		}
		return x.bits(finder.Not{Expr: finder.InState(tracker.Closed)})
	case finder.Between:
		return x.between(e), true
	}
	return nil, false
}

// every gives what is in each of several sets.
func (x *index) every(list finder.And) (all bits, own bool) {
	if len(list) == 0 {
		return allBits(len(x.ids)), true
	}
	all, own = x.bits(list[0])
	for _, e := range list[1:] {
		in, mine := x.bits(e)
		switch {
		case own:
		case mine:
			all, in = in, all
		default:
			all = slices.Clone(all)
		}
		own = true
		all.and(in)
	}
	return all, own
}

// either gives what is in one of several sets.
func (x *index) either(n int, at func(n int) (bits, bool)) (all bits, own bool) {
	if n == 1 {
		return at(0)
	}
	all = newBits(len(x.ids))
	for i := range n {
		in, _ := at(i)
		all.or(in)
	}
	return all, true
}

// with are the issues that have a property.
func (x *index) with(p posting.Property) (in bits, own bool) {
	n, ok := x.numbers[p]
	if !ok {
		return nil, true
	}
	return x.sets[n].bits(len(x.ids))
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

package memory

import (
	"cmp"
	"slices"

	"arbor/internal/finder"
)

// key is what orders compare.
type key struct {
	value int64 // 0 in the order of creation
	id    int64
}

// keyOf gives the key of an issue.
func (x *index) keyOf(p place, by finder.Sort) key {
	k := key{id: x.ids[p]}
	switch by {
	case finder.Updated:
		k.value = x.updated[p]
	case finder.Comments:
		k.value = int64(x.comments[p])
	}
	return k
}

// before tells whether a key comes before another.
func before(o finder.Order, a, b key) bool {
	if !o.Asc {
		a, b = b, a
	}
	return a.value < b.value || a.value == b.value && a.id < b.id
}

func (x *index) compareUpdated(a, b place) int {
	return cmp.Or(cmp.Compare(x.updated[a], x.updated[b]), cmp.Compare(a, b))
}

func (x *index) compareComments(a, b place) int {
	return cmp.Or(cmp.Compare(x.comments[a], x.comments[b]), cmp.Compare(a, b))
}

// oneByOne is up to how many places are moved in an order one by one. More are
// moved in one pass.
const oneByOne = 8

// without takes places out of an order; their keys are still those that they
// stand by.
func without(list, out []place, compare func(a, b place) int) []place {
	if len(out) > oneByOne {
		gone := newBits(len(list))
		for _, p := range out {
			gone.set(p)
		}
		return slices.DeleteFunc(list, gone.has)
	}
	for _, p := range out {
		if at, ok := slices.BinarySearchFunc(list, p, compare); ok {
			list = slices.Delete(list, at, at+1)
		}
	}
	return list
}

// with puts places into an order.
func with(list, in []place, compare func(a, b place) int) []place {
	if len(in) <= oneByOne {
		for _, p := range in {
			at, _ := slices.BinarySearchFunc(list, p, compare)
			list = slices.Insert(list, at, p)
		}
		return list
	}
	in = slices.SortedFunc(slices.Values(in), compare)
	a := len(list)
	list = append(list, in...)
	for at := len(list) - 1; len(in) > 0; at-- { // from the end, in place
		if last := in[len(in)-1]; a == 0 || compare(list[a-1], last) < 0 {
			list[at], in = last, in[:len(in)-1]
		} else {
			a--
			list[at] = list[a]
		}
	}
	return list
}

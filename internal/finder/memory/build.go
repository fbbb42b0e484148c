package memory

import (
	"slices"

	"arbor/internal/posting"
)

// builder fills an index: first all issues, then the properties.
type builder struct {
	x      *index
	counts []uint32 // by place: how many properties it has
}

// newBuilder begins an index of about n issues.
func newBuilder(n int) *builder {
	return &builder{&index{ids: make([]int64, 0, n), updated: make([]int64, 0, n), changed: make([]int64, 0, n),
		comments: make([]int32, 0, n), numbers: map[posting.Property]uint32{}}, make([]uint32, 0, n)}
}

// issue adds an issue, whose properties come later. It reports false where its id
// is not larger than that of the one before.
func (b *builder) issue(e entry) bool {
	x := b.x
	if n := len(x.ids); n > 0 && e.id <= x.ids[n-1] {
		return false
	}
	x.closed.put(place(len(x.ids)), e.closed)
	x.ids, x.updated, x.changed = append(x.ids, e.id), append(x.updated, e.updated), append(x.changed, e.changed)
	x.comments, b.counts = append(x.comments, int32(e.comments)), append(b.counts, 0)
	return true
}

// property says which issues have a property: their ids, each once, in any order.
// Issues that were made since are not there yet, and ignored.
func (b *builder) property(p posting.Property, ids []int64) {
	x := b.x
	slices.Sort(ids)
	places := make([]place, 0, len(ids))
	rest, from := x.ids, 0
	for _, id := range ids {
		n, ok := slices.BinarySearch(rest[from:], id)
		if from += n; ok {
			places = append(places, place(from))
			b.counts[from]++
		}
	}
	if len(places) == 0 {
		return
	}
	x.change(x.number(p), func(s *set) {
		s.n, s.few = len(places), slices.Clip(places)
		s.choose(len(x.ids))
	})
}

// index is the index, when everything was added. The builder is not used again.
func (b *builder) index() *index {
	x := b.x
	x.byUpdated, x.byComments = make([]place, len(x.ids)), make([]place, len(x.ids))
	for n := range x.ids {
		x.byUpdated[n], x.byComments[n] = place(n), place(n)
	}
	slices.SortFunc(x.byUpdated, x.compareUpdated)
	slices.SortFunc(x.byComments, x.compareComments)
	l := &x.properties
	l.start = make([]uint32, len(b.counts))
	size := uint32(0)
	for p, n := range b.counts {
		l.start[p] = size
		size += n + 1
	}
	l.numbers = make([]uint32, size)
	for number := range x.sets {
		x.sets[number].each(func(p place) {
			from := l.start[p]
			l.numbers[from]++
			l.numbers[from+l.numbers[from]] = uint32(number)
		})
	}
	return x
}

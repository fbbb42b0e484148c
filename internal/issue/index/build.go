package index

import "slices"

// Builder fills an index: first all issues, then the properties.
type Builder struct{ x *Index }

// Build begins an index for about n issues.
func Build(n int) *Builder {
	return &Builder{&Index{
		ids: make([]int64, 0, n), updated: make([]int64, 0, n), comments: make([]int32, 0, n),
		sets: map[Property]*set{},
	}}
}

// Issue adds an issue, whose properties come later. Issues come in the order of
// their ids; one whose id does not grow is ignored.
func (b *Builder) Issue(id, updated, comments int64, closed bool) {
	x := b.x
	if n := len(x.ids); n > 0 && x.ids[n-1] >= id {
		return
	}
	x.closed.put(place(len(x.ids)), closed)
	x.ids, x.updated, x.comments = append(x.ids, id), append(x.updated, updated), append(x.comments, int32(comments))
}

// Property says which issues have a property: their ids, each once, in any order.
// Ids of issues that were not added are ignored.
func (b *Builder) Property(p Property, ids []int64) {
	places := make([]place, 0, len(ids))
	slices.Sort(ids)
	rest, from := b.x.ids, 0
	for _, id := range ids {
		n, ok := slices.BinarySearch(rest[from:], id)
		if from += n; ok {
			places = append(places, place(from))
		}
	}
	if len(places) == 0 {
		return
	}
	s := newSet(slices.Compact(places), len(b.x.ids))
	for _, at := range places[:s.n] {
		s.closed += one(b.x.closed.has(at))
	}
	b.x.sets[p] = s
}

// Index is the index, when everything was added. The builder is not used again.
func (b *Builder) Index() *Index {
	x := b.x
	x.byUpdated, x.byComments = make([]place, len(x.ids)), make([]place, len(x.ids))
	for n := range x.ids {
		x.byUpdated[n], x.byComments[n] = place(n), place(n)
	}
	slices.SortFunc(x.byUpdated, x.compareUpdated)
	slices.SortFunc(x.byComments, x.compareComments)
	return x
}

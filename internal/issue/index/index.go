// Package index holds what the lists of one repository's issues need in memory:
// which issues have which properties, and three orders. It knows nothing of SQL;
// package issue fills an index from the postings, and keeps it up.
//
//	index.go   the index, and how an issue is put into it
//	build.go   how it is filled
//	set.go     sets of issues: lists while they are few, bits when they are many
//	select.go  what a query chooses, and how much that is
//	walk.go    going through what was chosen, in an order
//	page.go    a page of it; merge.go: of several indexes together
//
// Issues are known by their place: the first that was made is 0. Places are
// never given back, since issues are never deleted on their own.
//
// An Index may be read by many goroutines at a time, or written by one.
package index

import (
	"cmp"
	"slices"
)

// Kind is a kind of property; package issue names them.
type Kind int64

// Property is something that issues are found by: a label, an author, ...
type Property struct {
	Kind  Kind
	Value int64
}

// Entry is an issue as an index holds it.
type Entry struct {
	ID       int64
	Updated  int64 // microseconds since 1970
	Comments int64
	Closed   bool
	Has      []Property
}

// Sort is what a list is ordered by.
type Sort uint8

// The orders. Ids grow as issues are made, so the order of creation is theirs.
const (
	Created Sort = iota
	Updated
	Comments
)

// Order is a sort and a direction. Ties are broken by id, in the same direction.
type Order struct {
	Sort Sort
	Asc  bool
}

// place is the place of an issue.
type place = uint32

// Index is the issues of one repository.
type Index struct {
	ids      []int64 // by place, growing
	updated  []int64
	comments []int32
	closed   bitmap
	sets     map[Property]*set

	byUpdated  []place
	byComments []place
}

// Len is the number of issues.
func (x *Index) Len() int { return len(x.ids) }

// Bytes is about how much memory the index takes.
func (x *Index) Bytes() int {
	n := len(x.ids) * (8 + 8 + 4 + 4 + 4)
	for _, s := range x.sets {
		n += 96 + 4*cap(s.few) + 8*cap(s.many)
	}
	return n
}

// find gives the place of an issue.
func (x *Index) find(id int64) (place, bool) {
	at, ok := slices.BinarySearch(x.ids, id)
	return place(at), ok
}

// Counts tells how many issues have a property.
func (x *Index) Counts(p Property) (open, closed int) {
	if s := x.sets[p]; s != nil {
		return s.n - s.closed, s.closed
	}
	return 0, 0
}

// Put adds issues, or replaces all that is known of them. They may come in any
// order, each once. It reports false where a new one has not a larger id than
// all that are there: then the index counts no longer.
func (x *Index) Put(entries ...Entry) (ok bool) {
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range entries {
		at, known := x.find(e.ID)
		switch {
		case known:
			x.forget(at, e)
		case int(at) == len(x.ids):
			x.ids = append(x.ids, e.ID)
			x.updated = append(x.updated, 0)
			x.comments = append(x.comments, 0)
		default:
			return false
		}
		x.updated[at], x.comments[at] = e.Updated, int32(e.Comments)
		x.closed.put(at, e.Closed)
		x.byUpdated = insert(x.byUpdated, at, x.compareUpdated)
		x.byComments = insert(x.byComments, at, x.compareComments)
		for _, p := range e.Has {
			x.add(p, at)
		}
	}
	return true
}

// forget takes out what is known of an issue, but for the properties that it
// keeps.
func (x *Index) forget(at place, e Entry) {
	x.byUpdated = remove(x.byUpdated, at, x.compareUpdated)
	x.byComments = remove(x.byComments, at, x.compareComments)
	was := x.closed.has(at)
	for p, s := range x.sets {
		if !s.has(at) {
			continue
		}
		if slices.Contains(e.Has, p) {
			s.closed += one(e.Closed) - one(was)
			continue
		}
		s.remove(at)
		s.closed -= one(was)
		if s.n == 0 {
			delete(x.sets, p)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (x *Index) add(p Property, at place) {
	s := x.sets[p]
	if s == nil {
		s = &set{}
		x.sets[p] = s
	}
	if !s.has(at) {
		s.add(at, len(x.ids))
		s.closed += one(x.closed.has(at))
	}
}

func (x *Index) compareUpdated(a, b place) int {
	return cmp.Or(cmp.Compare(x.updated[a], x.updated[b]), cmp.Compare(a, b))
}

func (x *Index) compareComments(a, b place) int {
	return cmp.Or(cmp.Compare(x.comments[a], x.comments[b]), cmp.Compare(a, b))
}

// insert puts a place where it belongs.
func insert(list []place, at place, compare func(a, b place) int) []place {
	n, _ := slices.BinarySearchFunc(list, at, compare)
	return slices.Insert(list, n, at)
}

// remove takes a place out, whose keys are still those that it stands by.
func remove(list []place, at place, compare func(a, b place) int) []place {
	n, ok := slices.BinarySearchFunc(list, at, compare)
	if !ok {
		return list
	}
	return slices.Delete(list, n, n+1)
}

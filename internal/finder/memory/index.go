// Package memory finds issues in memory: in the indexes of repositories whose
// issues were listed lately.
//
//	index.go    the index of one repository, and how issues are put into it
//	bits.go     sets of issues as bits; set.go: as lists while they are few
//	order.go    the orders of lists
//	choose.go   from a tree of conditions to the bits of the issues that meet it
//	page.go     a page of what was chosen, of one repository or of several
//	indexes.go  the indexes of all repositories, and the generations they stand for
//	fill.go, store.go   reading an index, and what changed since
//
// It is one of two executors of a finder.Query. Without it everything is found as
// well, only slower. Nothing is told of writes: an index knows the
// issues_generation that it stands for, and a reader whose snapshot is later reads
// the issues that changed in between, so it does not matter which process wrote.
//
// An index takes some 100 bytes an issue: properties as sets, the three orders, and of each issue
// its properties. A tree becomes bits, whose number is the total, and a page walks an order past
// issues that are not in them, from the nearer end. An index is filled beside the requests, from
// the postings; until it is there, and for what does not fit, SQL answers.
package memory

import (
	"cmp"
	"slices"

	"arbor/internal/posting"
)

// entry is an issue as an index holds it.
type entry struct {
	id       int64
	updated  int64 // microseconds since 1970
	comments int64
	changed  int64 // the issues_generation with which it was last written
	closed   bool
	has      []posting.Property
}

// place is the place of an issue in an index: the first that was made is 0. Places are never
// given back: an index of which issues departed is filled anew.
type place = uint32

// index is the issues of one repository. Many may read it at a time, or one write.
type index struct {
	ids      []int64 // by place, growing
	updated  []int64
	changed  []int64
	comments []int32
	closed   bits
	newest   int64 // the largest of changed that was ever put

	numbers    map[posting.Property]uint32 // places of sets
	sets       []set
	setBytes   int
	properties lists // by place: the numbers of its properties

	byUpdated  []place
	byComments []place
}

// newIndex makes an index for about n issues.
func newIndex(n int) *index {
	return &index{ids: make([]int64, 0, n), updated: make([]int64, 0, n), changed: make([]int64, 0, n),
		comments: make([]int32, 0, n), closed: make(bits, 0, n/64+1), numbers: map[posting.Property]uint32{},
		byUpdated: make([]place, 0, n), byComments: make([]place, 0, n)}
}

// holds are the kinds of properties that indexes hold. Branches are as many as
// pull requests are: to find them by SQL is as quick.
func holds(k posting.Kind) bool {
	switch k {
	case posting.ByAuthor, posting.ByAssignee, posting.ByMilestone, posting.ByLabel, posting.ByMention,
		posting.BySubscriber, posting.ByPull:
		return true
	}
	return false
}

// propertyBytes is what a property takes besides its set: its share of the map.
const propertyBytes = 48

// indexBytes is what an index takes that is empty.
const indexBytes = 520

// bytes is how much memory the index takes.
func (x *index) bytes() int {
	return indexBytes + 8*(cap(x.ids)+cap(x.updated)+cap(x.changed)+cap(x.closed)) +
		4*(cap(x.comments)+cap(x.byUpdated)+cap(x.byComments)) +
		cap(x.sets)*setBytes + len(x.numbers)*propertyBytes + x.setBytes + x.properties.bytes()
}

// find gives the place of an issue.
func (x *index) find(id int64) (place, bool) {
	at, ok := slices.BinarySearch(x.ids, id)
	return place(at), ok
}

// put adds issues, or replaces all that is known of them: they may come in any
// order, each once. It costs what they hold, and moving them in the two orders. It
// reports false where a new one has not a larger id than all that are there, as where
// issues departed: then the index counts no longer.
func (x *index) put(entries []entry) (ok bool) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	if len(entries) > 0 && entries[0].id == departed {
		return false
	}
	known, all := make([]place, 0, len(entries)), make([]place, 0, len(entries))
	for _, e := range entries {
		if at, ok := x.find(e.id); ok {
			known = append(known, at)
		}
	}
	x.byUpdated = without(x.byUpdated, known, x.compareUpdated)
	x.byComments = without(x.byComments, known, x.compareComments)
	for n, e := range entries {
		var at place
		if n < len(known) { // those with the smaller ids
			at = known[n]
		} else if at = place(len(x.ids)); at > 0 && e.id <= x.ids[at-1] {
			return false
		}
		if int(at) == len(x.ids) {
			x.ids, x.updated, x.changed = append(x.ids, e.id), append(x.updated, 0), append(x.changed, 0)
			x.comments = append(x.comments, 0)
		}
		x.updated[at], x.changed[at], x.comments[at] = e.updated, e.changed, int32(e.comments)
		x.newest = max(x.newest, e.changed)
		x.closed.put(at, e.closed)
		x.setProperties(at, e.has)
		all = append(all, at)
	}
	x.byUpdated = with(x.byUpdated, all, x.compareUpdated)
	x.byComments = with(x.byComments, all, x.compareComments)
	return true
}

// setProperties replaces the properties of an issue.
func (x *index) setProperties(at place, has []posting.Property) {
	numbers := make([]uint32, 0, len(has))
	for _, p := range has {
		if holds(p.Kind) {
			numbers = append(numbers, x.number(p))
		}
	}
	before := x.properties.at(at)
	for _, n := range before {
		if !slices.Contains(numbers, n) {
			x.change(n, func(s *set) { s.remove(at) })
		}
	}
	for _, n := range numbers {
		if !slices.Contains(before, n) {
			x.change(n, func(s *set) { s.add(at, len(x.ids)) })
		}
	}
	x.properties.put(at, numbers)
}

// number gives the number of a property.
func (x *index) number(p posting.Property) uint32 {
	n, ok := x.numbers[p]
	if !ok {
		n = uint32(len(x.sets))
		x.numbers[p] = n
		x.sets = append(x.sets, set{})
	}
	return n
}

// change changes the set of a property, and counts what that takes.
func (x *index) change(number uint32, fn func(s *set)) {
	s := &x.sets[number]
	before := s.bytes()
	fn(s)
	x.setBytes += s.bytes() - before
}

// lists are short lists of numbers by place, one after another in one slice, each
// behind its length. What is replaced by something longer leaves a gap.
type lists struct {
	start   []uint32
	numbers []uint32
	gaps    int
}

func (l *lists) bytes() int { return 4 * (cap(l.start) + cap(l.numbers)) }

// at gives the list of a place, which the next put may change.
func (l *lists) at(p place) []uint32 {
	if int(p) >= len(l.start) {
		return nil
	}
	from := l.start[p]
	return l.numbers[from+1 : from+1+l.numbers[from]]
}

// put sets the list of a place that has one, or is the next.
func (l *lists) put(p place, list []uint32) {
	before := len(l.at(p))
	switch {
	case int(p) == len(l.start):
		l.start = append(l.start, uint32(len(l.numbers)))
	case len(list) <= before:
		from := l.start[p]
		l.numbers[from] = uint32(len(list))
		copy(l.numbers[from+1:], list)
		l.gaps += before - len(list)
		return
	default:
		l.gaps += before + 1
		l.start[p] = uint32(len(l.numbers))
	}
	l.numbers = append(append(l.numbers, uint32(len(list))), list...)
	if l.gaps > len(l.numbers)/2 {
		l.compact()
	}
}

// compact leaves no gaps.
func (l *lists) compact() {
	numbers := make([]uint32, 0, len(l.numbers)-l.gaps)
	for p := range l.start {
		list := l.at(place(p))
		l.start[p] = uint32(len(numbers))
		numbers = append(append(numbers, uint32(len(list))), list...)
	}
	l.numbers, l.gaps = numbers, 0
}

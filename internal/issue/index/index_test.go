package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain answers queries from entries, one by one.
type plain []Entry

func (l plain) find(q Query, o Order) []Entry {
	var found []Entry
	for _, e := range l {
		ok := (e.Closed && q.Closed || !e.Closed && q.Open) && e.Updated >= q.Since
		for _, p := range q.Has {
			ok = ok && slices.Contains(e.Has, p)
		}
		for _, p := range q.Lacks {
			ok = ok && !slices.Contains(e.Has, p)
		}
		if ok {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b Entry) int {
		c := cmp.Compare(a.ID, b.ID)
		switch o.Sort {
		case Updated:
			c = cmp.Or(cmp.Compare(a.Updated, b.Updated), c)
		case Comments:
			c = cmp.Or(cmp.Compare(a.Comments, b.Comments), c)
		}
		if !o.Asc {
			c = -c
		}
		return c
	})
	return found
}

func drawEntry(random *rand.Rand, id int64) Entry {
	e := Entry{ID: id, Updated: random.Int64N(500), Comments: random.Int64N(6), Closed: random.IntN(3) == 0}
	e.Has = []Property{{1, 0}}
	for v := range int64(12) { // each rarer than the one before
		if random.IntN(1<<v) == 0 {
			e.Has = append(e.Has, Property{2, v})
		}
	}
	return e
}

func drawQuery(random *rand.Rand) (Query, Order) {
	q := Query{Open: random.IntN(2) == 0}
	q.Closed = !q.Open || random.IntN(2) == 0
	for range random.IntN(4) {
		q.Has = append(q.Has, Property{2, random.Int64N(13)})
	}
	if random.IntN(3) == 0 {
		q.Has = append(q.Has, Property{1, 0})
	}
	if random.IntN(3) == 0 {
		q.Lacks = append(q.Lacks, Property{2, random.Int64N(13)})
	}
	if random.IntN(2) == 0 {
		q.Since = random.Int64N(520)
	}
	return q, Order{Sort(random.IntN(3)), random.IntN(2) == 0}
}

// An index finds what looking at every issue finds, while issues come and
// change, in one repository and in several together.
func TestFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		size := []int{0, 1, 30, 700, 3000}[seed%5]
		var all [3]plain
		var indexes [3]*Index
		id := int64(0)
		for n := range indexes {
			for range size {
				id += 1 + random.Int64N(3)
				all[n] = append(all[n], drawEntry(random, id))
			}
			indexes[n] = build(all[n])
		}
		for range 40 {
			n := random.IntN(len(all))
			id++
			fresh := []Entry{drawEntry(random, id)}
			if size > 0 {
				at := random.IntN(size)
				all[n][at] = drawEntry(random, all[n][at].ID)
				fresh = append(fresh, all[n][at])
			}
			all[n] = append(all[n], fresh[0])
			if !indexes[n].Put(fresh...) {
				t.Fatal("an issue was refused")
			}
			compare(t, random, all[:], indexes[:])
		}
		for n, x := range indexes {
			for _, e := range all[n] {
				have := propertiesOf(x, e.ID)
				slices.SortFunc(have, byProperty)
				slices.SortFunc(e.Has, byProperty)
				if !slices.Equal(have, e.Has) {
					t.Fatalf("issue %d has %v, want %v", e.ID, have, e.Has)
				}
			}
		}
	}
}

// propertiesOf are those of an issue, in no order.
func propertiesOf(x *Index, id int64) (list []Property) {
	at, _ := x.find(id)
	for p, s := range x.sets {
		if s.has(at) {
			list = append(list, p)
		}
	}
	return list
}

func byProperty(a, b Property) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
}

func build(list plain) *Index {
	b := Build(len(list))
	has := map[Property][]int64{}
	for _, e := range list {
		b.Issue(e.ID, e.Updated, e.Comments, e.Closed)
		for _, p := range e.Has {
			has[p] = append(has[p], e.ID)
		}
	}
	for p, ids := range has {
		b.Property(p, ids)
	}
	return b.Index()
}

func compare(t *testing.T, random *rand.Rand, all []plain, indexes []*Index) {
	t.Helper()
	q, o := drawQuery(random)
	var entries plain
	var selections []*Selection
	total := 0
	for n := range 1 + random.IntN(len(all)) {
		entries = append(entries, all[n]...)
		s := indexes[n].Select(q)
		total += s.Total()
		selections = append(selections, s)
	}
	want := entries.find(q, o)
	if total != len(want) {
		t.Fatalf("%+v: %d issues, want %d", q, total, len(want))
	}
	if n := random.Int64N(13); len(selections) == 1 {
		open, closed := indexes[0].Counts(Property{2, n})
		have, gone := entries.find(Query{Has: []Property{{2, n}}, Open: true}, o), entries.find(Query{Has: []Property{{2, n}}, Closed: true}, o)
		if open != len(have) || closed != len(gone) {
			t.Fatalf("%d open and %d closed, want %d and %d", open, closed, len(have), len(gone))
		}
	}
	offset, size := random.IntN(len(want)+20), 1+random.IntN(100)
	if random.IntN(2) == 0 {
		offset = 0
	}
	have := Page(selections, o, offset, size)
	want = want[min(offset, len(want)):min(offset+size, len(want))]
	ids := make([]int64, len(want))
	for n, e := range want {
		ids[n] = e.ID
	}
	if !slices.Equal(have, ids) {
		t.Fatalf("%+v %+v from %d, %d: %v, want %v", q, o, offset, size, have, ids)
	}
}

// Ids that do not grow are refused: places would not be in the order of ids.
func TestRefusesSmallerIDs(t *testing.T) {
	t.Parallel()
	x := build(plain{{ID: 5}, {ID: 9}})
	if x.Put(Entry{ID: 7}) {
		t.Error("an issue between two others was taken")
	}
}

// BenchmarkSelect is the first page and one in the middle of 100,000 issues, and
// how long an issue takes that changes.
func BenchmarkSelect(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var list plain
	for id := range int64(100_000) {
		e := drawEntry(random, id)
		e.Updated = random.Int64N(1 << 40)
		list = append(list, e)
	}
	x := build(list)
	b.Logf("%d bytes an issue", x.Bytes()/len(list))
	for name, q := range map[string]Query{
		"all":   {Open: true},
		"three": {Open: true, Closed: true, Has: []Property{{2, 1}, {2, 2}, {2, 3}}},
		"one":   {Open: true, Has: []Property{{2, 5}}},
		"few":   {Open: true, Has: []Property{{2, 9}, {2, 1}}},
		"since": {Open: true, Since: 1 << 39},
	} {
		for sort, o := range map[string]Order{"created": {Created, false}, "updated": {Updated, false}, "comments": {Comments, true}} {
			b.Run(name+"/"+sort+"/first", func(b *testing.B) {
				for b.Loop() {
					Page([]*Selection{x.Select(q)}, o, 0, 30)
				}
			})
			b.Run(name+"/"+sort+"/middle", func(b *testing.B) {
				for b.Loop() {
					s := x.Select(q)
					Page([]*Selection{s}, o, s.Total()/2, 30)
				}
			})
		}
	}
	b.Run("put", func(b *testing.B) {
		for n := range b.N {
			x.Put(Entry{ID: int64(n*7919) % 100_000, Updated: 1<<40 + int64(n), Has: list[n%1000].Has})
		}
	})
}

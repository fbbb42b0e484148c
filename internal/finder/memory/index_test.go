package memory

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/tracker"
)

// drawEntry makes an issue with some labels, each rarer than the one before, and
// somebody who is mentioned.
func drawEntry(random *rand.Rand, id int64) entry {
	e := entry{id: id, updated: random.Int64N(1 << 40), comments: random.Int64N(6),
		closed: random.IntN(3) == 0,
		has:    []posting.Property{posting.ByMention.Of(random.Int64N(5000))}}
	for v := range int64(12) {
		if random.IntN(1<<v) == 0 {
			e.has = append(e.has, posting.ByLabel.Of(v))
		}
	}
	return e
}

func drawIndex(random *rand.Rand, n int64) *index {
	x := newIndex(int(n))
	for id := int64(0); id < n; {
		var chunk []entry
		for ; id < n && len(chunk) < 10_000; id++ {
			chunk = append(chunk, drawEntry(random, id))
		}
		x.put(chunk)
	}
	return x
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An operator's server must not take more memory than indexes say they take: when
// they are filled, and after everything changed.
func TestIndexCountsItsMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	before := heap()
	x := drawIndex(random, 100_000)
	sizes := map[posting.Property]int64{posting.ByAll.Of(0): 100_000}
	for p, n := range x.numbers {
		sizes[p] = int64(x.sets[n].n)
	}
	if n, said := estimate(sizes), int64(x.bytes()); n < said-said/4 || n > said+said/4 {
		t.Errorf("an index of %d bytes was estimated as %d", said, n)
	}
	sizes = nil
	for round := range 3 {
		took, said := heap()-before, int64(x.bytes())
		t.Logf("%d bytes an issue", said/int64(len(x.ids)))
		if took > said+said/8 || said > took+took/8 {
			t.Errorf("round %d: the index says that it takes %d bytes, and takes %d", round, said, took)
		}
		for id := int64(0); id < 100_000; id += 500 {
			var entries []entry
			for n := range int64(500) {
				entries = append(entries, drawEntry(random, id+n))
			}
			if !x.put(entries) {
				t.Fatal("an issue was refused")
			}
		}
	}
	runtime.KeepAlive(x)
}

// A server has far more small repositories than large ones: many small indexes take
// no more than they say, either.
func TestSmallIndexesCountTheirMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, issues := range []int64{0, 1, 10} {
		before := heap()
		n := New(nil, slog.New(slog.DiscardHandler))
		for id := range repo.ID(10_000) {
			x := drawIndex(random, issues)
			n.keep(&indexed{repo: id, index: x}, x.bytes())
		}
		took, said := heap()-before, int64(n.bytes)
		t.Logf("%d issues: %d bytes an index, which says %d", issues, took/10_000, said/10_000)
		if took > said+said/8 || said > 2*took {
			t.Errorf("indexes of %d issues say that they take %d bytes, and take %d", issues, said, took)
		}
		runtime.KeepAlive(n)
	}
}

// Ids that do not grow are refused: places would not be in the order of ids.
func TestIndexRefusesSmallerIDs(t *testing.T) {
	t.Parallel()
	x := newIndex(2)
	if !x.put([]entry{{id: 9}, {id: 5}}) || x.put([]entry{{id: 7}}) {
		t.Error("an issue between two others was taken")
	}
}

// A repository that does not fit into the memory is read no more than once: its
// lists are those of SQL, and cost what they cost there.
func TestTooLargeIsNotReadAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var counted atomic.Int64
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Trace: func(_ context.Context, query string) {
				if strings.Contains(query, "posting_counts") {
					counted.Add(1)
				}
			}})
		r := plots(t, d, 1)[0]
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			sizes := map[tracker.State]int64{tracker.Open: 1000}
			return posting.CountStates(tx, r.ID, posting.ByAll.Of(0), sizes, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		n := New(d, slog.New(slog.DiscardHandler))
		n.limit = 1000
		find := func() bool {
			var ok bool
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				q := finder.Query{Repos: []finder.Repo{{ID: r.ID, Generation: finder.Unread}},
					Where: finder.And{}}
				_, ok, err = n.Find(tx, &q, 0, 30)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if find() || len(n.wanted) == 0 {
			t.Fatal("the index was not asked for")
		}
		for len(n.wanted) > 0 {
			<-n.wanted
		}
		if err := n.Fill(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		read := counted.Load()
		for range 5 {
			if find() || len(n.wanted) > 0 {
				t.Fatal("what is too large is asked for again")
			}
		}
		if counted.Load() != read || read == 0 {
			t.Errorf("counters were read %d times, then %d times more", read, counted.Load()-read)
		}
	})
}

// BenchmarkChoose is the first page and one in the middle of 100,000 issues, and
// how long an issue takes that changes.
func BenchmarkChoose(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	x := drawIndex(random, 100_000)
	b.Logf("%d bytes an issue", x.bytes()/len(x.ids))
	label := func(v int64) finder.Expr { return finder.HasOne(posting.ByLabel.Of(v)) }
	open := finder.InState(tracker.Open)
	for name, e := range map[string]finder.Expr{
		"all":   open,
		"three": finder.And{label(1), label(2), label(3)},
		"one":   finder.And{open, label(5)},
		"few":   finder.And{open, label(9), label(1)},
		"since": finder.And{open, finder.Since(1 << 39)},
	} {
		for sort, o := range map[string]finder.Order{
			"created": {}, "updated": {Sort: finder.Updated}, "comments": {Sort: finder.Comments, Asc: true},
		} {
			for where, part := range map[string]int{"first": 0, "middle": 2} {
				b.Run(name+"/"+sort+"/"+where, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						s := x.choose(e)
						offset := 0
						if part > 0 {
							offset = s.n / part
						}
						page([]*selection{s}, o, offset, 30)
					}
				})
			}
		}
	}
	b.Run("put", func(b *testing.B) {
		list := make([]entry, 1000)
		for n := range list {
			list[n] = drawEntry(random, 0)
		}
		for n := range b.N {
			e := list[n%1000]
			e.id, e.updated = int64(n*7919)%100_000, 1<<40+int64(n)
			x.put([]entry{e})
		}
	})
}

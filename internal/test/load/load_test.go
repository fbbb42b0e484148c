//go:build long && linux

package load

import (
	"context"
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// runFor is how long a siege or soak takes on each engine; its times decide then. 0 is a short siege, or a
// soak of a minute.
var runFor = flag.Duration("for", 0, "how long to load each engine; times decide then")

// only names the one attack to run; empty: all.
var only = flag.String("attack", "", "the only attack to run")

const (
	shortest    = 6 * time.Second // of a short siege
	hangs       = 7 * time.Minute // honest work that has not succeeded until then never will
	memoryBound = 1 << 30
)

// attack is one way to harm the server, tried again and again by some workers at once.
type attack struct {
	name    string
	workers int
	crowd   int    // connections of each worker, for an attack that also runs by itself; 0: of requests
	apart   bool   // each worker comes from a network of its own; else they share one, as a company's machines do
	ends    string // the outcome that each try must have, if only one is right
	// try attacks once and returns how it ended: a status, "cut", "refused".
	try func(ctx context.Context, a *attacker) string
}

// sieges are laid one after the other.
var sieges = []struct {
	name    string
	engine  db.Engine
	tls     bool
	attacks func(w *world) []attack
}{
	{"SQLite", db.SQLite, false, attacksInClear},
	{"PostgreSQL", db.PostgreSQL, false, attacksInClear},
	{"TLS", db.SQLite, true, tlsAttacks},
}

func attacksInClear(w *world) []attack {
	return slices.Concat(requestAttacks(w), writeAttacks(w), gitAttacks(w), heldAttacks(w))
}

// While all attacks go on, honest callers are served. If this failed, one address could stop the server for
// all.
func TestSiege(t *testing.T) {
	binary := build(t)
	for _, c := range sieges {
		if *runFor == 0 && c.engine == db.PostgreSQL {
			continue // the attacks are the same
		}
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, binary, c.engine, c.tls, !c.tls)
			attacks := c.attacks(w)
			if *only != "" {
				attacks = slices.DeleteFunc(attacks, func(a attack) bool { return a.name != *only })
			}
			callers := honestCallers(w)
			for _, a := range attacks {
				if *runFor == 0 && (a.crowd > 0 || *only != "") {
					w.runAlone(t, a, callers)
				}
			}
			w.runAll(t, attacks, callers)
			w.checkSound(t)
		})
	}
}

// start has the workers of an attack run until ctx is done. begun counts attempts, or connections if the
// attack keeps them.
func (w *world) start(
	ctx, stay context.Context, all *sync.WaitGroup, a attack, n int, seen *tally,
) (begun *atomic.Int64) {
	begun = new(atomic.Int64)
	for k := range a.workers {
		from := newAttacker(w, a, n, k)
		from.stay, from.begun = stay, begun
		all.Go(func() {
			defer from.leave()
			for ctx.Err() == nil {
				began := time.Now()
				outcome := a.try(ctx, from)
				if a.crowd == 0 {
					begun.Add(1)
				}
				if ctx.Err() == nil {
					seen.add(a.name, outcome, time.Since(began))
				}
				pause(ctx, 20*time.Millisecond)
			}
		})
	}
	return begun
}

// runAlone has honest callers work during one attack at full force until each step has succeeded once.
func (w *world) runAlone(t *testing.T, a attack, callers []*honest) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	hostile, honest := newTally(), newTally()
	begun := w.start(ctx, ctx, &all, a, 0, hostile)
	testkit.Eventually(t, func() bool { return begun.Load() >= int64(a.workers*max(a.crowd, 1)) }, a.name+" begins")
	if !a.apart && !w.tls {
		w.checkShare(t, a.name)
	}
	for end := time.Now().Add(hangs); len(honest.missing(callers)) > 0 && time.Now().Before(end); {
		for _, h := range callers {
			h.work(ctx, honest, false)
		}
	}
	if a.ends != "" {
		testkit.Eventually(t, func() bool { return hostile.count(a.name, a.ends) > 0 }, a.name+" is "+a.ends)
	}
	cancel()
	all.Wait()
	if names := honest.missing(callers); len(names) > 0 {
		t.Errorf("during %s honest callers do not succeed with %q:\n%s", a.name, names, honest)
	}
	hostile.checkEnds(t, a)
	w.letsGo(t, "after "+a.name, false)
	t.Logf("%s: %v", a.name, time.Since(began).Round(time.Second))
}

// checkEnds demands the one outcome that an attack may have.
func (t *tally) checkEnds(tb testing.TB, a attack) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for outcome, n := range t.of(a.name).outcomes {
		if a.ends != "" && outcome != a.ends {
			tb.Errorf("%s: %d tries are %s, want %s", a.name, n, outcome, a.ends)
		}
	}
}

// runAll runs all attacks while honest callers work. A short siege ends when each of their steps has
// succeeded once.
func (w *world) runAll(t *testing.T, attacks []attack, callers []*honest) {
	t.Helper()
	duration, decides := *runFor, *runFor > 0
	if !decides {
		duration = hangs
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	stay, leave := context.WithCancel(t.Context())
	defer leave()
	var people, attackers sync.WaitGroup
	honest, hostile := newTally(), newTally()
	peak := w.watchMemory(ctx)
	began := time.Now()
	for n, a := range attacks {
		w.start(ctx, stay, &attackers, a, n, hostile)
	}
	for _, h := range callers {
		people.Go(func() { h.work(ctx, honest, true) })
	}
	for ctx.Err() == nil {
		if !decides && time.Since(began) > shortest && len(honest.missing(callers)) == 0 {
			cancel()
		}
		pause(ctx, 100*time.Millisecond)
	}
	people.Wait()
	took, most := time.Since(began).Round(time.Second), peak()
	for _, h := range callers {
		h.call.client.CloseIdleConnections()
	}
	w.letsGo(t, "although the attackers' connections stay", true)
	t.Logf("%v, and %v until the server had let go; at most %d MiB of memory (server %d, git %d)\n"+
		"attacks:\n%shonest callers:\n%s", took, time.Since(began).Round(time.Second)-took,
		most.total>>20, most.server>>20, most.children>>20, hostile, honest)
	leave()
	attackers.Wait()
	for _, a := range attacks {
		hostile.checkEnds(t, a)
	}
	if names := honest.missing(callers); len(names) > 0 {
		t.Errorf("honest callers never succeeded with %q", names)
	}
	if decides {
		honest.judge(t, true)
		if most.total > memoryBound {
			t.Errorf("the server and its children used %d MiB", most.total>>20)
		}
	}
}

// flat are the measures of a server that must not grow while people work: in the last third of the time one
// may be larger than in the second by a tenth and by this.
var flat = map[string]float64{
	"process_resident_memory_bytes": 24 << 20, "go_goroutines": 10, "process_open_fds": 10, "processes": 4,
}

// People read and write in every way, and what the server takes stays as it is.
func BenchmarkSoak(b *testing.B) {
	length := *runFor
	if length == 0 {
		length = time.Minute
	}
	binary := build(b)
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		b.Run(engine.String(), func(b *testing.B) {
			w := newWorld(b, binary, engine, false, false)
			callers := append(honestCallers(w), operator(w))
			ctx, cancel := context.WithTimeout(b.Context(), length)
			defer cancel()
			var people sync.WaitGroup
			honest := newTally()
			for _, h := range callers {
				people.Go(func() { h.work(ctx, honest, true) })
			}
			samples := map[string][]float64{}
			for ; ctx.Err() == nil; pause(ctx, time.Second) {
				m := w.metrics()
				m["processes"] = float64(len(descendants(w.server.Process.Pid)))
				for name := range flat {
					samples[name] = append(samples[name], m[name])
				}
			}
			people.Wait()
			b.Logf("honest callers:\n%s", honest)
			for name, slack := range flat {
				list := samples[name]
				third := len(list) / 3
				middle, last := median(list[third:2*third]), median(list[2*third:])
				b.ReportMetric(last, name)
				if last > middle*1.1+slack {
					b.Errorf("%s grew from %.0f to %.0f", name, middle, last)
				}
			}
			honest.judge(b, false)
			w.checkNumbers(b, callers)
			w.letsGo(b, "after the soak", false)
			w.checkSound(b)
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

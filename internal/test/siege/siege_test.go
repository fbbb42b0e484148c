//go:build long

package siege

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// siegeFor is how long each engine is besieged; 0 is a short run, which ends when
// each honest step has succeeded once, and whose times decide nothing.
var siegeFor = flag.Duration("for", 0, "how long to besiege each engine; its times decide then")

// only names the one attack to run; empty: all.
var only = flag.String("attack", "", "the only attack to run")

// Bounds of what an honest caller waits for, and of memory.
const (
	shortest      = 6 * time.Second // of a short run
	hangs         = 7 * time.Minute // honest work that has not succeeded by then never will
	requestBound  = 2 * time.Second
	transferBound = 10 * time.Second
	memoryBound   = 1 << 30
)

// attack is one way of harming the server, tried again and again by some workers
// at once.
type attack struct {
	name    string
	workers int
	// try attacks once and says how it ended: a status, "cut", "refused".
	try func(ctx context.Context, a *attacker) string
}

// Everything that a review found, at once. If this failed, one address could stop
// the server for everybody.
func TestSiege(t *testing.T) {
	if !testenv.Long {
		t.Skip("a siege is not laid in short mode")
	}
	engines := []db.Engine{db.SQLite, db.PostgreSQL}
	if *siegeFor == 0 {
		engines = engines[:1] // the attacks are the same
	}
	for _, engine := range engines {
		t.Run(engine.String(), func(t *testing.T) {
			if engine == db.PostgreSQL {
				dbtest.URL(t, engine) // skips loudly where there is none
			}
			besiege(t, engine)
		})
	}
}

// besiege runs all attacks beside the honest callers.
func besiege(t *testing.T, engine db.Engine) {
	w := newWorld(t, engine)
	duration := *siegeFor
	decides := duration > 0
	if !decides {
		duration = hangs
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	honest, hostile := newTally(), newTally()
	callers := honestCallers(w)
	if !decides {
		go func() {
			pause(ctx, shortest)
			for ctx.Err() == nil && len(honest.missing(callers)) > 0 {
				pause(ctx, 100*time.Millisecond)
			}
			cancel()
		}()
	}
	peak := w.watchMemory(ctx)
	var all sync.WaitGroup
	attacks := slices.Concat(webAttacks(w), botAttacks(w), fetchAttacks(w), socketAttacks(w))
	for n, a := range attacks {
		if *only != "" && a.name != *only {
			continue
		}
		for k := range a.workers {
			all.Go(func() { w.attack(ctx, a, newAttacker(w, n, k), hostile) })
		}
	}
	for _, h := range callers {
		all.Go(func() { h.work(ctx, honest) })
	}
	start := time.Now()
	all.Wait()
	most := peak()
	t.Logf("%s, %v, at most %d MiB of memory (server %d, git %d)\nattacks:\n%shonest callers:\n%s",
		engine, time.Since(start).Round(time.Second), most.total>>20, most.server>>20, most.children>>20,
		hostile, honest)
	w.stillServes(t)
	if names := honest.missing(callers); len(names) > 0 {
		t.Errorf("honest callers never succeeded with %q", names)
	}
	honest.judge(t, decides)
	if decides && most.total > memoryBound {
		t.Errorf("the server and its children used %d MiB", most.total>>20)
	}
}

// attack tries until the time is over.
func (w *world) attack(ctx context.Context, a attack, from *attacker, seen *tally) {
	for ctx.Err() == nil {
		start := time.Now()
		outcome := a.try(ctx, from)
		if ctx.Err() == nil {
			seen.add(a.name, outcome, time.Since(start))
		}
		pause(ctx, 20*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// tally counts the outcomes of each attack and of each honest step.
type tally struct {
	mu    sync.Mutex
	kinds map[string]*kind
}

type kind struct {
	outcomes map[string]int
	times    []time.Duration
	bound    time.Duration // of honest callers
	failures []string
}

func newTally() *tally { return &tally{kinds: map[string]*kind{}} }

func (t *tally) of(name string) *kind {
	k := t.kinds[name]
	if k == nil {
		k = &kind{outcomes: map[string]int{}}
		t.kinds[name] = k
	}
	return k
}

func (t *tally) add(name, outcome string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.of(name)
	k.outcomes[outcome]++
	k.times = append(k.times, took)
}

// fail notes what an honest caller met.
func (t *tally) fail(name, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.of(name); len(k.failures) < 5 {
		k.failures = append(k.failures, what)
	}
}

// missing lists the steps of the callers that have not succeeded once.
func (t *tally) missing(callers []*honest) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for _, h := range callers {
		for _, s := range h.steps {
			if k := t.kinds[s.name]; k == nil || k.outcomes["ok"] == 0 {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// judge fails the test for what honest callers met.
func (t *tally) judge(tb testing.TB, decides bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		slices.Sort(k.times)
		slowest := k.times[len(k.times)-1]
		bad := len(k.times) - k.outcomes["ok"]
		switch {
		case decides && bad > 0:
			tb.Errorf("honest %s: %d of %d failed: %q", name, bad, len(k.times), k.failures)
		case decides && slowest > k.bound:
			tb.Errorf("honest %s: the slowest took %v, bound %v", name, slowest, k.bound)
		}
	}
}

// String is a table, a line for each kind.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		slices.Sort(k.times)
		var outcomes []string
		for _, o := range slices.Sorted(maps.Keys(k.outcomes)) {
			outcomes = append(outcomes, fmt.Sprintf("%s: %d", o, k.outcomes[o]))
		}
		at := func(share float64) time.Duration {
			return k.times[min(len(k.times)-1, int(share*float64(len(k.times))))].Round(time.Millisecond)
		}
		fmt.Fprintf(out, "  %s\t%d\tmedian %v\t99%% %v\tmost %v\t%s\n",
			name, len(k.times), at(0.5), at(0.99), at(1), strings.Join(outcomes, ", "))
		for _, f := range k.failures {
			fmt.Fprintf(out, "    %s\n", f)
		}
	}
	out.Flush()
	return b.String()
}

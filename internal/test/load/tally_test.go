//go:build long && linux

package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// tally counts the outcomes of each attack or of each honest step.
type tally struct {
	mu    sync.Mutex
	kinds map[string]*kind
}

type kind struct {
	outcomes map[string]int
	times    []time.Duration
	bound    time.Duration // of an honest step
	equal    bool          // see step
	failures []string
}

func newTally() *tally { return &tally{kinds: map[string]*kind{}} }

func (t *tally) of(name string) *kind {
	if t.kinds[name] == nil {
		t.kinds[name] = &kind{outcomes: map[string]int{}}
	}
	return t.kinds[name]
}

func (t *tally) add(name, outcome string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.of(name)
	k.outcomes[outcome]++
	k.times = append(k.times, took)
}

// addStep counts a step of an honest caller.
func (t *tally) addStep(s step, err error, took time.Duration) {
	t.mu.Lock()
	t.of(s.name).bound, t.of(s.name).equal = s.bound, s.equal
	if k := t.of(s.name); err != nil && len(k.failures) < 5 {
		k.failures = append(k.failures, fmt.Sprintf("%v after %v", err, took.Round(time.Millisecond)))
	}
	t.mu.Unlock()
	t.add(s.name, map[bool]string{true: "ok", false: "failed"}[err == nil], took)
}

// count is how often something had an outcome.
func (t *tally) count(name, outcome string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of(name).outcomes[outcome]
}

// missing lists the steps that have not succeeded once.
func (t *tally) missing(callers []*honest) []string {
	var names []string
	for _, h := range callers {
		for _, s := range h.steps {
			if t.count(s.name, "ok") == 0 {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// judge fails the test for each failure of honest callers and, if times decide, each bound missed.
func (t *tally) judge(tb testing.TB, times bool) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		bad, slowest := len(k.times)-k.outcomes["ok"], time.Duration(0)
		for _, took := range k.times {
			slowest = max(slowest, took)
		}
		switch {
		case bad > 0 && !k.equal, 2*bad > len(k.times):
			tb.Errorf("honest %s: %d of %d failed: %q", name, bad, len(k.times), k.failures)
		case times && slowest > k.bound && bad == 0:
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
		if len(k.times) == 0 {
			continue
		}
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

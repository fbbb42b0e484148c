package issue

import (
	"fmt"
	"sync"
)

// totals remembers how many issues streams let through, under names that hold
// the generations of what they depend on.
type totals struct {
	mu     sync.Mutex
	byName map[string]int64
}

// maxTotals bounds it to about 2 MB.
const maxTotals = 10_000

// name names what a stream lets through.
func (s *stream) name(q *Query) string {
	return fmt.Sprint(s.repo, s.generation, s.state, q.Since, s.by, s.has, s.lacks)
}

// known sums what it remembers of the streams, and returns the others.
func (t *totals) known(q *Query, list []stream) (total int64, left []stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range list {
		if n, ok := t.byName[s.name(q)]; ok {
			total += n
		} else {
			left = append(left, s)
		}
	}
	return total, left
}

// put remembers the counts of the streams.
func (t *totals) put(q *Query, list []stream, counts []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil || len(t.byName)+len(list) > maxTotals {
		t.byName = map[string]int64{}
	}
	for n, s := range list {
		t.byName[s.name(q)] = counts[n]
	}
}

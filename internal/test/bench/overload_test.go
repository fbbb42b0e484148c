//go:build long

package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// overload asks for pages of issues twice as often as the server can answer. Requests come when they come:
// none waits for the answer to another. The client shares the processors with the server, so a page, which
// costs the server much more than its client, tells most.
func (s *suite) overload(b *testing.B, a *arbor) {
	var at atomic.Int64
	next := func(int) []byte { return get(fmt.Sprint("/works/project0/issues/", 1+at.Add(1)%10000), "") }
	usual := newLoad(b, a.url, 16, next)
	usual.run(b, slice)
	peak := 0.0
	for range 5 {
		peak = max(peak, usual.run(b, 2*time.Second))
	}
	var t tide
	server, _ := a.peak(b, func() { t = rush(b, a.url, 2*peak, 10*time.Second, next) })
	s.atLeast(b, float64(t.served)/t.took/peak, 0.8, "x-of-peak",
		fmt.Sprintf("%s; asked %.0f, refused %d, no client free %d",
			rates(float64(t.served)/t.took, peak), 2*peak, len(t.refused), t.missed))
	s.atMost(b, longest(t.refused), 1, "s-to-refuse",
		fmt.Sprintf("the slowest refusal; the slowest answer %.2f s", longest(t.answered)))
	s.note(b, server, "MiB", "the server's peak")
}

// tide is how a rush went: times in seconds from the moment when a request was due.
type tide struct {
	served, missed    int
	answered, refused []float64
	took              float64
}

// most is how many connections a rush has: a network may have half of what the server takes.
const most = 2500

// rush asks so often each second for as long as d says.
func rush(b *testing.B, url string, rate float64, d time.Duration, next func(int) []byte) tide {
	b.Helper()
	due := make(chan time.Time, most)
	var idle atomic.Int64
	var mu sync.Mutex
	var t tide
	var all sync.WaitGroup
	for i := range most {
		c := connect(b, url)
		idle.Add(1)
		all.Go(func() {
			for when := range due {
				status, _, err := c.do(next(i))
				if errors.Is(err, io.EOF) { // a refusal may end a connection
					c = connect(b, url)
					status, _, err = c.do(next(i))
				}
				took := time.Since(when).Seconds()
				mu.Lock()
				switch {
				case err != nil:
					b.Error(err)
				case status == 200:
					t.served++
					t.answered = append(t.answered, took)
				case status == 503 || status == 429:
					t.refused = append(t.refused, took)
				default:
					b.Errorf("status %d", status)
				}
				mu.Unlock()
				idle.Add(1)
				if err != nil {
					return
				}
			}
		})
	}
	start, sent := time.Now(), 0
	for time.Since(start) < d {
		for float64(sent) < rate*time.Since(start).Seconds() {
			sent++
			if idle.Add(-1) < 0 {
				idle.Add(1)
				t.missed++
				continue
			}
			due <- time.Now()
		}
		time.Sleep(time.Millisecond)
	}
	close(due)
	t.took = time.Since(start).Seconds()
	all.Wait()
	return t
}

// longest is the longest of some times; 0 of none.
func longest(list []float64) float64 { return slices.Max(append(list, 0)) }

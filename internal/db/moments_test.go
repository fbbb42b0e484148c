package db

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A stale number would show a user who was just removed what he may no longer
// see: an answer must come from a query that began after the call.
func TestMomentBeginsAfterTheCall(t *testing.T) {
	t.Parallel()
	var clock, queries atomic.Int64
	g := newMoments(func(_ context.Context, m *moment) error {
		began := clock.Add(1)
		queries.Add(1)
		time.Sleep(200 * time.Microsecond)
		for topic := range m.numbers {
			m.numbers[topic] = began
		}
		return nil
	})
	var wg sync.WaitGroup
	const callers, each = 16, 200
	for w := range callers {
		wg.Go(func() {
			for range each {
				called := clock.Add(1)
				topic := []string{"a", "b", ""}[w%3]
				m, err := g.get(context.Background(), topic)
				if got := m.numbers[topic]; err != nil || got <= called {
					t.Errorf("called at %d, answered by a question begun at %d, %v", called, got, err)
				}
			}
		})
	}
	wg.Wait()
	if n := queries.Load(); n > callers*each/2 {
		t.Errorf("%d queries for %d calls: they are not shared", n, callers*each)
	}
}

// One who hangs up must not take the answer from those who wait with him.
func TestCallersForAMomentMayHangUp(t *testing.T) {
	t.Parallel()
	g := newMoments(func(ctx context.Context, m *moment) error {
		time.Sleep(100 * time.Microsecond)
		for topic := range m.numbers {
			m.numbers[topic] = 7
		}
		return ctx.Err()
	})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				if w%2 == 0 {
					time.AfterFunc(50*time.Microsecond, cancel)
				}
				m, err := g.get(ctx, "a")
				if w%2 == 1 && (m.numbers["a"] != 7 || err != nil) {
					t.Errorf("a patient caller: %v, %v", m.numbers, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if m, err := g.get(context.Background(), "a"); m.numbers["a"] != 7 || err != nil {
		t.Errorf("afterwards: %v, %v", m.numbers, err)
	}
}

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
func TestGenerationQueryBeginsAfterTheCall(t *testing.T) {
	t.Parallel()
	var clock, queries atomic.Int64
	g := newGenerations(func(_ context.Context, into map[string]int64) error {
		began := clock.Add(1)
		queries.Add(1)
		time.Sleep(200 * time.Microsecond)
		for topic := range into {
			into[topic] = began
		}
		return nil
	})
	var wg sync.WaitGroup
	const callers, each = 16, 200
	for w := range callers {
		wg.Go(func() {
			for range each {
				called := clock.Add(1)
				got, err := g.get(context.Background(), []string{"a", "b"}[w%2])
				if err != nil || got <= called {
					t.Errorf("called at %d, answered from a query begun at %d, %v", called, got, err)
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
func TestGenerationCallersMayHangUp(t *testing.T) {
	t.Parallel()
	g := newGenerations(func(ctx context.Context, into map[string]int64) error {
		time.Sleep(100 * time.Microsecond)
		for topic := range into {
			into[topic] = 7
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
				n, err := g.get(ctx, "a")
				if w%2 == 1 && (n != 7 || err != nil) {
					t.Errorf("a patient caller: %d, %v", n, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if n, err := g.get(context.Background(), "a"); n != 7 || err != nil {
		t.Errorf("afterwards: %d, %v", n, err)
	}
}

package keyed

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Those who come with one key wait for each other, others do not, and nothing is
// left behind.
func TestMutex(t *testing.T) {
	t.Parallel()
	var k Mutex[string]
	unlock, err := k.Lock(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	var counts [2]int
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			unlock, err := k.Lock(t.Context(), []string{"even", "odd"}[i%2])
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			counts[i%2]++
		})
	}
	all.Wait()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Lock(gone, "other"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone: %v", err)
	}
	unlock()
	if counts != [2]int{50, 50} || len(k.held) != 0 {
		t.Errorf("%v came, and %d mutexes are left", counts, len(k.held))
	}
}

package cache_test

import (
	"testing"

	"arbor/internal/cache"
)

// Values in use stay and others go. There never are more than two halves.
func TestRecent(t *testing.T) {
	t.Parallel()
	r := cache.NewRecent[int](10, func(v string) int { return len(v) })
	r.Put(0, "ab")
	for i := 1; i < 100; i++ {
		r.Put(i, "cd")
		if v, ok := r.Get(0); !ok || v != "ab" {
			t.Fatalf("after %d others: %q, %v", i, v, ok)
		}
	}
	kept := 0
	for i := range 100 {
		if _, ok := r.Get(i); ok {
			kept++
		}
	}
	if kept == 0 || kept > 10 {
		t.Errorf("%d values of 2 are kept within 2 times 10", kept)
	}
}

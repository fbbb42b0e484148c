package keyed

import (
	"sync"
	"testing"
)

// Those who come with one key wait for each other, others do not, and nothing is
// left behind.
func TestMutex(t *testing.T) {
	t.Parallel()
	var k Mutex[string]
	unlock := k.Lock("other")
	var counts [2]int
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			defer k.Lock([]string{"even", "odd"}[i%2])()
			counts[i%2]++
		})
	}
	all.Wait()
	unlock()
	if counts != [2]int{50, 50} || len(k.held) != 0 {
		t.Errorf("%v came, and %d mutexes are left", counts, len(k.held))
	}
}

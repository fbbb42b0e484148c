package cache

import (
	"context"
	"sync"
)

// Flights runs concurrent calls with the same key one at a time. The zero value is ready.
type Flights[K comparable] struct {
	mu   sync.Mutex
	open map[K]chan struct{}
}

// Enter waits until nobody else works on key. alone reports that nobody did: the
// caller works on it now, and calls Leave. Otherwise somebody has just finished.
// Error: that of ctx.
func (f *Flights[K]) Enter(ctx context.Context, key K) (alone bool, err error) {
	f.mu.Lock()
	done, busy := f.open[key]
	if !busy {
		if f.open == nil {
			f.open = map[K]chan struct{}{}
		}
		f.open[key] = make(chan struct{})
		f.mu.Unlock()
		return true, nil
	}
	f.mu.Unlock()
	select {
	case <-done:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Leave admits the next caller that waits for the key.
func (f *Flights[K]) Leave(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.open[key])
	delete(f.open, key)
}

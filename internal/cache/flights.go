package web

import (
	"context"
	"sync"
)

// Flights lets one request at a time do what many ask for. The zero value is
// ready.
type Flights struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

// Enter waits until nobody else works on key. alone reports that nobody did: the
// caller works on it now, and calls Leave. Otherwise somebody has just finished.
// Error: that of ctx.
func (f *Flights) Enter(ctx context.Context, key string) (alone bool, err error) {
	f.mu.Lock()
	done, busy := f.open[key]
	if !busy {
		if f.open == nil {
			f.open = map[string]chan struct{}{}
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

// Leave lets the next one go on.
func (f *Flights) Leave(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.open[key])
	delete(f.open, key)
}

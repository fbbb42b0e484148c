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
	if pause, ok := ctx.Value(pauseKey{}).(func() func()); ok {
		defer pause()()
	}
	select {
	case <-done:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

type pauseKey struct{}

// WithPause returns a context for one of several goroutines that run one at a time. Enter calls pause before
// it waits, so that the others can go on, and resume afterwards.
func WithPause(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// Leave admits the next caller that waits for the key.
func (f *Flights[K]) Leave(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.open[key])
	delete(f.open, key)
}

// Package keyed has what is there once for each key, such as a repository or a branch: a
// [Mutex] for as long as somebody holds it or waits for it, and a place in a [Queue].
package keyed

import (
	"context"
	"sync"
)

// Mutex is a set of mutexes. The zero value is ready.
type Mutex[K comparable] struct {
	mu   sync.Mutex
	held map[K]*mutex
}

type mutex struct {
	turn  chan struct{} // holds a value while somebody has the mutex
	users int           // that have it or wait for it
}

// Lock waits for the key's mutex and returns the function that unlocks it. Error: that of ctx.
func (k *Mutex[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[K]*mutex{}
	}
	m := k.held[key]
	if m == nil {
		m = &mutex{turn: make(chan struct{}, 1)}
		k.held[key] = m
	}
	m.users++
	k.mu.Unlock()
	select {
	case m.turn <- struct{}{}:
		return func() {
			<-m.turn
			k.leave(key, m)
		}, nil
	case <-ctx.Done():
		k.leave(key, m)
		return nil, ctx.Err()
	}
}

func (k *Mutex[K]) leave(key K, m *mutex) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.users--; m.users == 0 {
		delete(k.held, key)
	}
}

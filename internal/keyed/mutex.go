// Package keyed has what is there once for each key, such as a repository or a branch: a
// [Mutex] for as long as somebody holds it or waits for it, and a place in a [Queue].
package keyed

import "sync"

// Mutex is a set of mutexes. The zero value is ready.
type Mutex[K comparable] struct {
	mu   sync.Mutex
	held map[K]*mutex
}

type mutex struct {
	sync.Mutex
	users int // that hold it or wait for it
}

// Lock waits for the key's mutex and gives the function that unlocks it.
func (k *Mutex[K]) Lock(key K) (unlock func()) {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[K]*mutex{}
	}
	m := k.held[key]
	if m == nil {
		m = &mutex{}
		k.held[key] = m
	}
	m.users++
	k.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(k.held, key)
		}
	}
}

// Package cache keeps what was read from the database in memory, as long as it is
// true. It has the one protocol for that:
//
//	state := s.db.State()  // or cache.Generations(a.RefsGeneration), read before
//	v, err := c.Read(state, key, func() (V, error) { ... })
//
// A [State] names what the database held when it was taken, and each value is kept
// under the state that was taken before the value was read. So nothing is ever
// invalidated, and it does not matter which process writes: after a change readers
// come with another state, and the old value is not found.
//
//	cache.go    Cache: values within a bound
//	state.go    State
//	recent.go   Recent: values that never change, with less overhead
//	stats.go    counters of a cache
package cache

import (
	"container/list"
	"context"
	"sync"

	"arbor/internal/keyed"
)

// Cache keeps values of one kind, each under a key and a state. When they cost
// more than its limit, the least recently used go. Safe for concurrent use.
type Cache[K comparable, V any] struct {
	limit int64
	cost  func(K, V) int64

	mu      sync.Mutex
	hits    int64
	misses  int64
	held    int64      // what all values cost
	order   *list.List // of *entry[K, V], the last used first
	byKey   map[K]*list.Element
	reading keyed.Mutex[reading[K]]
}

// reading identifies a read of ReadAlone.
type reading[K comparable] struct {
	state State
	key   K
}

type entry[K comparable, V any] struct {
	key   K
	state State
	value V
	cost  int64
}

// New returns a cache for values whose total cost is at most limit. cost returns the
// cost of one value, in the unit of the limit.
func New[K comparable, V any](limit int64, cost func(K, V) int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, cost: cost, order: list.New(), byKey: map[K]*list.Element{}}
}

// NewCount returns a cache of at most limit values.
func NewCount[K comparable, V any](limit int64) *Cache[K, V] {
	return New(limit, func(K, V) int64 { return 1 })
}

// Get returns the value that was kept under the key in this state.
func (c *Cache[K, V]) Get(state State, key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil || e.Value.(*entry[K, V]).state != state {
		c.misses++
		return v, false
	}
	kept := e.Value.(*entry[K, V])
	c.hits++
	c.order.MoveToFront(e)
	return kept.value, true
}

// Put keeps a value that was read after the state was taken. Callers share the
// value, so nobody may change it. It takes the place of one in another state. One
// that costs more than the limit is not kept.
func (c *Cache[K, V]) Put(state State, key K, v V) {
	cost := c.cost(key, v)
	if state == Unknown || cost > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.drop(e)
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, state, v, cost})
	c.held += cost
	for c.held > c.limit {
		c.drop(c.order.Back())
	}
}

func (c *Cache[K, V]) drop(e *list.Element) {
	dropped := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, dropped.key)
	c.held -= dropped.cost
}

// Len is how many values are kept.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

// Cost is what all values that are kept cost together.
func (c *Cache[K, V]) Cost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// Read returns the value that is kept under the key in this state, or else the result of
// read, which it then keeps. Its error is that of read.
func (c *Cache[K, V]) Read(state State, key K, read func() (V, error)) (V, error) {
	if v, ok := c.Get(state, key); ok {
		return v, nil
	}
	v, err := read()
	if err == nil {
		c.Put(state, key, v)
	}
	return v, err
}

// ReadAlone is Read for values that take much to read: of those who ask for one at
// the same time, one reads it and the others wait. Error: that of read, or of ctx.
func (c *Cache[K, V]) ReadAlone(ctx context.Context, state State, key K, read func() (V, error)) (V, error) {
	v, ok := c.Get(state, key)
	if ok {
		return v, nil
	}
	unlock, err := c.reading.Lock(ctx, reading[K]{state, key})
	if err != nil {
		return v, err
	}
	defer unlock()
	return c.Read(state, key, read)
}

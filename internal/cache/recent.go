package cache

import "sync"

// Recent keeps values that never change, such as the parents of a commit, in two
// halves: when the young one is full it becomes the old one, and values that nobody
// asked for since are dropped. It has less overhead per value than a Cache, and
// moves nothing when one is read often. Safe for concurrent use.
type Recent[K comparable, V any] struct {
	limit int         // of one half
	cost  func(V) int // nil: 1 each

	mu         sync.Mutex
	young, old map[K]V
	held       int // by young
	hits       int64
	misses     int64
}

// NewRecent returns a cache of two halves; each holds values with a total cost of at
// most limit. cost returns the cost of one value; nil: 1.
func NewRecent[K comparable, V any](limit int, cost func(V) int) *Recent[K, V] {
	return &Recent[K, V]{limit: limit, cost: cost, young: map[K]V{}}
}

// Get returns the value of a key, if it is kept.
func (r *Recent[K, V]) Get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.young[key]; ok {
		r.hits++
		return v, true
	}
	v, ok := r.old[key]
	if ok {
		r.hits++
		r.putLocked(key, v)
	} else {
		r.misses++
	}
	return v, ok
}

// Put keeps the value of a key.
func (r *Recent[K, V]) Put(key K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.young[key]; !ok {
		r.putLocked(key, v)
	}
}

func (r *Recent[K, V]) putLocked(key K, v V) {
	cost := 1
	if r.cost != nil {
		cost = r.cost(v)
	}
	if r.held+cost > r.limit {
		r.old, r.young, r.held = r.young, map[K]V{}, 0
	}
	r.young[key] = v
	r.held += cost
}

package cache

// Stats are the statistics of a cache.
type Stats struct {
	Name    string // of the cache, for people who read the numbers
	Entries int64
	Held    int64 // what all values cost, in the unit of Most
	Most    int64
	Hits    int64 // since the cache was made
	Misses  int64
}

// Stats returns the cache's numbers, labelled with name.
func (c *Cache[K, V]) Stats(name string) Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{name, int64(c.order.Len()), c.held, c.limit, c.hits, c.misses}
}

// Stats returns the cache's numbers, labelled with name. The older half counts as full.
func (r *Recent[K, V]) Stats(name string) Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{name, int64(len(r.young) + len(r.old)), int64(r.held), 2 * int64(r.limit), r.hits, r.misses}
	if r.old != nil {
		s.Held += int64(r.limit)
	}
	return s
}

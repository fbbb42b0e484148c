package web

import (
	"bytes"
	"container/list"
	"sync"
)

// Cache keeps rendered answers within a bounded memory, the least recently
// used going first. Keys must name everything that the answer depends on, so
// nothing is ever invalidated; it falls out of use. Safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	size  int64
	limit int64
	order *list.List
	byKey map[string]*list.Element
}

// entryCost is about what an entry costs beside its key and body, in bytes.
const entryCost = 200

type cached struct {
	key  string
	body []byte
	etag string
}

// NewCache makes a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

// MaxEntry is the size in bytes of the largest body that Put keeps.
func (c *Cache) MaxEntry() int64 { return c.limit / 4 }

// Get returns the body and entity tag kept under key.
func (c *Cache) Get(key string) (body []byte, etag string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil, "", false
	}
	c.order.MoveToFront(e)
	v := e.Value.(*cached)
	return v.body, v.etag, true
}

// Put keeps a body, which must not be changed afterwards. One larger than
// MaxEntry is not kept.
func (c *Cache) Put(key string, body []byte, etag string) {
	if int64(len(body)) > c.MaxEntry() {
		return
	}
	if cap(body)-len(body) > len(body)/4 { // it was rendered into a larger room
		body = bytes.Clone(body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.drop(e)
	}
	v := &cached{key, body, etag}
	c.byKey[key] = c.order.PushFront(v)
	c.size += v.cost()
	for c.size > c.limit {
		c.drop(c.order.Back())
	}
}

func (c *Cache) drop(e *list.Element) {
	v := c.order.Remove(e).(*cached)
	delete(c.byKey, v.key)
	c.size -= v.cost()
}

func (v *cached) cost() int64 { return int64(cap(v.body)+len(v.key)+len(v.etag)) + entryCost }

package account

import (
	"sync"

	"arbor/internal/db"
	"arbor/internal/web"
)

// maxCounts bounds how many numbers of rows are kept.
const maxCounts = 4096

// counts keeps the numbers of rows of long lists for as long as no account and
// no membership changes, so that walking the pages of a list counts once.
type counts struct {
	mu         sync.Mutex
	generation int64
	numbers    map[any]int64 // by memberFilter or orgFilter
}

// total gives the number of rows of a list of which one page was read and got
// rows found. A page that is not full tells it; else it is counted, once for
// each generation.
func (c *counts) total(tx *db.Tx, key any, p web.Page, got int, count func() (int64, error)) (int64, error) {
	if n := int64(got); n < p.Size && (n > 0 || p.Number == 1) {
		return p.Offset() + n, nil
	}
	generation, err := tx.Generation(Topic)
	if err != nil {
		return 0, err
	}
	if n, ok := c.get(generation, key); ok {
		return n, nil
	}
	n, err := count()
	if err == nil {
		c.put(generation, key, n)
	}
	return n, err
}

func (c *counts) get(generation int64, key any) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return 0, false
	}
	n, ok := c.numbers[key]
	return n, ok
}

func (c *counts) put(generation int64, key any, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation < c.generation {
		return
	}
	if generation > c.generation || len(c.numbers) >= maxCounts || c.numbers == nil {
		c.generation, c.numbers = generation, map[any]int64{}
	}
	c.numbers[key] = n
}

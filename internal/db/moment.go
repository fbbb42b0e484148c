package db

import (
	"context"
	"sync"
	"time"

	"arbor/internal/cache"
)

// moment is the answer to one question to the database: the state, and the generations of
// the topics that were asked for.
type moment struct {
	state    cache.State
	numbers  map[string]int64
	position position // in PostgreSQL's log, if there is a replica
}

// newMoment returns a moment for a topic and the empty topic, which is always included.
func newMoment(topic string) moment {
	return moment{numbers: map[string]int64{"": 0, topic: 0}}
}

// maxMoment bounds how long a request relies on one moment: it may have waited for its
// turn, or for its own body, since it asked.
const maxMoment = 100 * time.Millisecond

// memory keeps the moment of one request, so that its lookups ask the database once.
type memory struct {
	mu    sync.Mutex
	last  moment
	asked time.Time
	ended int // the transactions of the request that have ended
}

type memoryKey struct{}

// Remember returns a context for one request. Under it [DB.State] and [DB.Generation] ask
// the database once, until a Write under it ends or some time has passed: what they say
// holds everything acknowledged before the request asked first.
func (d *DB) Remember(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, new(memory))
}

// forget drops the moment of ctx's request, because its transaction has ended.
func forget(ctx context.Context) {
	if m, _ := ctx.Value(memoryKey{}).(*memory); m != nil {
		m.mu.Lock()
		m.last = moment{}
		m.ended++
		m.mu.Unlock()
	}
}

// moment returns the remembered moment, or queries it. topic may be empty.
func (d *DB) moment(ctx context.Context, topic string) (moment, error) {
	m, _ := ctx.Value(memoryKey{}).(*memory)
	if m == nil {
		return d.moments.get(ctx, topic)
	}
	m.mu.Lock()
	last, asked, ended := m.last, m.asked, m.ended
	m.mu.Unlock()
	if time.Since(asked) < maxMoment {
		if _, known := last.numbers[topic]; known {
			return last, nil
		}
	}
	asked = time.Now()
	now, err := d.moments.get(ctx, topic)
	if err != nil {
		return moment{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended == ended {
		m.last, m.asked = now, asked
	}
	return now, nil
}

package keyed

import (
	"context"
	"sync"
	"time"
)

// Queue holds keys that wait for work, each once, in the order in which they were first added.
type Queue[K comparable] struct {
	mu      sync.Mutex
	waiting []K
	queued  map[K]bool // those in waiting, and those that are added later
	wake    chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue[K comparable]() *Queue[K] {
	return &Queue[K]{queued: map[K]bool{}, wake: make(chan struct{}, 1)}
}

// Add adds a key, unless it is queued already.
func (q *Queue[K]) Add(key K) { q.AddAfter(key, 0) }

// AddAfter adds a key after some time, unless it is queued already.
func (q *Queue[K]) AddAfter(key K, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued[key] {
		return
	}
	q.queued[key] = true
	if wait > 0 {
		time.AfterFunc(wait, func() { q.ready(key) })
		return
	}
	q.readyLocked(key)
}

func (q *Queue[K]) ready(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.readyLocked(key)
}

func (q *Queue[K]) readyLocked(key K) {
	q.waiting = append(q.waiting, key)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue[K]) next() (key K, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return key, false
	}
	key = q.waiting[0]
	q.waiting = q.waiting[1:]
	delete(q.queued, key)
	return key, true
}

// Work calls fn with key after key until ctx is done. Only one worker may work on a queue.
func (q *Queue[K]) Work(ctx context.Context, fn func(context.Context, K)) {
	for ctx.Err() == nil {
		if key, ok := q.next(); ok {
			fn(ctx, key)
			continue
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How long and in what number callers wait for a connection or for their turn
// to write, before they are told that the server is overloaded.
const (
	maxWait    = 30 * time.Second
	maxWaiting = 4096
)

// pool is a bounded set of connections, opened when needed and reused last
// in, first out, so that few stay warm under little load.
type pool[C any] struct {
	open    func(context.Context) (C, error)
	close   func(C)
	slots   chan struct{} // holds a value for each connection in use
	waiting atomic.Int32

	mu     sync.Mutex
	idle   []C
	closed bool
}

func newPool[C any](size int, open func(context.Context) (C, error), closing func(C)) *pool[C] {
	return &pool[C]{open: open, close: closing, slots: make(chan struct{}, size)}
}

// get returns a connection; reused says that it served before, so that it may
// have broken since. Every get is followed by a put or a drop.
func (p *pool[C]) get(ctx context.Context) (c C, reused bool, err error) {
	if err := ctx.Err(); err != nil {
		return c, false, err
	}
	select {
	case p.slots <- struct{}{}:
	default:
		if err := p.wait(ctx); err != nil {
			return c, false, err
		}
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		return c, false, errClosed
	}
	if n := len(p.idle); n > 0 {
		c = p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, true, nil
	}
	p.mu.Unlock()
	if c, err = p.open(ctx); err != nil {
		<-p.slots
	}
	return c, false, err
}

func (p *pool[C]) wait(ctx context.Context) error {
	if p.waiting.Add(1) > maxWaiting {
		p.waiting.Add(-1)
		return errOverload("too many wait for a connection")
	}
	defer p.waiting.Add(-1)
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errOverload("no connection became free; is there a Read inside a Read or Write?")
	}
}

// put gives a usable connection back.
func (p *pool[C]) put(c C) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if closed {
		p.close(c)
	}
	<-p.slots
}

// drop closes a connection that cannot be used any more.
func (p *pool[C]) drop(c C) {
	p.close(c)
	<-p.slots
}

// clear closes the idle connections: they have probably broken like another.
func (p *pool[C]) clear() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		p.close(c)
	}
}

// shut refuses further use, and waits for the connections in use.
func (p *pool[C]) shut() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.clear()
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	for range cap(p.slots) {
		<-p.slots
	}
}

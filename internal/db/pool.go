package db

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the time and number of callers that wait for a connection or to write, before they get the
// error that the server is overloaded.
const (
	maxWait    = 30 * time.Second
	maxWaiting = 4096
)

// keepIdle is how long an unused connection, with its page cache and its
// prepared statements, stays open; the last one stays for ever.
const keepIdle = time.Minute

// pool is a bounded set of connections, opened when needed and reused last
// in, first out, so that few stay warm under little load.
type pool[C any] struct {
	open    func(context.Context) (C, error)
	close   func(C)
	slots   chan struct{} // holds a value for each connection in use
	waiting atomic.Int32

	mu     sync.Mutex
	idle   []idle[C] // the longest unused first
	trims  bool      // trim is going to run
	closed bool
}

type idle[C any] struct {
	conn  C
	since time.Time
}

func newPool[C any](size int, open func(context.Context) (C, error), closing func(C)) *pool[C] {
	return &pool[C]{open: open, close: closing, slots: make(chan struct{}, size)}
}

// get returns a connection, which may have broken while it was idle. Every get
// is followed by a put or a drop.
func (p *pool[C]) get(ctx context.Context) (c C, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	select {
	case p.slots <- struct{}{}:
	default:
		if err := p.wait(ctx); err != nil {
			return c, err
		}
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		return c, errClosed
	}
	if n := len(p.idle); n > 0 {
		c = p.idle[n-1].conn
		p.idle[n-1] = idle[C]{}
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	if c, err = p.open(ctx); err != nil {
		<-p.slots
	}
	return c, err
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

// put returns a usable connection to the pool.
func (p *pool[C]) put(c C) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, idle[C]{c, time.Now()})
		if len(p.idle) > 1 && !p.trims {
			p.trims = true
			time.AfterFunc(keepIdle, p.trim)
		}
	}
	p.mu.Unlock()
	if closed {
		p.close(c)
	}
	<-p.slots
}

// add adds a connection opened elsewhere to a pool that is not yet used.
func (p *pool[C]) add(c C) {
	p.slots <- struct{}{}
	p.put(c)
}

// trim closes the connections that were not needed for a while.
func (p *pool[C]) trim() {
	p.mu.Lock()
	n := 0
	for n < len(p.idle)-1 && time.Since(p.idle[n].since) >= keepIdle {
		n++
	}
	old := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.trims = len(p.idle) > 1
	if p.trims {
		time.AfterFunc(keepIdle, p.trim)
	}
	p.mu.Unlock()
	for _, c := range old {
		p.close(c.conn)
	}
}

// drop closes a connection that cannot be used any more.
func (p *pool[C]) drop(c C) {
	p.close(c)
	<-p.slots
}

// clear closes the idle connections: they have probably broken like another.
func (p *pool[C]) clear() {
	p.mu.Lock()
	old := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range old {
		p.close(c.conn)
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

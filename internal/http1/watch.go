package http1

import (
	"sync/atomic"
	"time"
)

const (
	watchTick = 20 * time.Millisecond // between two looks at the connections: handlers that last one are watched
	watchIdle = 50                    // looks without a request after which nobody looks
)

// watch finds the handlers that take long, so that those which do not cost
// nothing: one goroutine looks at all connections now and then, while there
// are requests.
type watch struct {
	on   atomic.Bool
	seen atomic.Bool // there were requests since the last look
}

// note says that a request has begun.
func (s *Server) note() {
	if !s.watch.seen.Load() {
		s.watch.seen.Store(true)
	}
	if !s.watch.on.Load() && s.watch.on.CompareAndSwap(false, true) {
		go s.look()
	}
}

// look looks at the connections until there are no requests.
func (s *Server) look() {
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for quiet := 0; quiet < watchIdle; quiet++ {
		<-tick.C
		busy := s.watch.seen.Swap(false)
		s.mu.Lock()
		for c := range s.conns {
			if c.look() {
				busy = true
			}
		}
		s.mu.Unlock()
		if busy {
			quiet = 0
		}
	}
	s.watch.on.Store(false)
	if s.watch.seen.Load() { // since the last look
		s.note()
	}
}

// look watches the connection if its handler runs since the last look, unless it
// is full of further requests. It reports whether a handler runs.
func (c *conn) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving {
		return false
	}
	if c.looked != c.requests {
		c.looked = c.requests
		return true
	}
	if c.watched == nil && c.end < len(c.buf) {
		c.readBy = time.Time{} // the handler may take longer than the request had to come
		c.rwc.SetReadDeadline(c.readBy)
		c.watched = make(chan struct{})
		go c.watch(c.watched, c.cancel)
	}
	return true
}

// watch reads ahead while the handler runs, and ends its context when the client
// has hung up. What it reads is the beginning of the next request.
func (c *conn) watch(done chan struct{}, cancel func()) {
	defer close(done)
	n, err := c.rwc.Read(c.buf[c.end:])
	c.end += n
	if err != nil && !isTimeout(err) {
		cancel()
	}
}

// unwatch ends the handler's time, and with it the watch.
func (c *conn) unwatch() {
	c.mu.Lock()
	c.serving = false
	watched := c.watched
	c.watched = nil
	c.mu.Unlock()
	if watched == nil {
		return
	}
	c.rwc.SetReadDeadline(longAgo)
	<-watched
}

// longAgo is a deadline that ends a call at once.
var longAgo = time.Unix(1, 0)

package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	firstBuffer = 4 << 10  // bytes; what most requests need
	maxPlain    = 16 << 10 // bytes of a plain request, with its body
	slack       = 16       // by what part of its time an idle or write deadline may come early
)

// conn is a connection with plain requests.
type conn struct {
	server *Server
	rwc    net.Conn
	remote string
	ctx    context.Context // of the connection

	request http.Request // in hand
	buf     []byte       // what was read: the request in hand, then what follows it
	end     int          // how far buf is filled
	readBy  time.Time    // the read deadline that is set; zero: not known
	writeBy time.Time    // the write deadline that is set; zero: none
	head    []byte       // of the answer, reused
	body    []byte       // of the answer, reused
	fields  []field      // of the answer, reused

	mu       sync.Mutex
	serving  bool          // a handler runs
	requests uint64        // how many have begun
	looked   uint64        // the request that was seen at the last look
	cancel   func()        // ends the context of the request in hand
	watched  chan struct{} // nil, or closed when the watch ends
}

func newConn(s *Server, rwc net.Conn) *conn {
	return &conn{server: s, rwc: rwc, remote: rwc.RemoteAddr().String(), buf: make([]byte, firstBuffer)}
}

// serve answers requests until the connection ends or is no longer plain.
func (c *conn) serve() {
	ctx, cancel := context.WithCancel(c.server.base)
	defer cancel()
	c.ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.rwc.LocalAddr())
	given := false
	defer func() {
		if !given {
			c.rwc.Close()
		}
		c.server.end(c)
	}()
	for {
		size := c.next()
		if size == 0 {
			break
		}
		if !c.answer() || c.server.closing.Load() {
			return
		}
		c.keep(c.buf[size:c.end])
	}
	if c.end == 0 || c.server.closing.Load() {
		return
	}
	c.rwc.SetDeadline(time.Time{})
	given = true
	c.server.rest.give(c.rwc, c.buf[:c.end])
}

// next reads a plain request, and gives its size in buf; 0 when there is none:
// then what was read of it, if anything, is net/http's.
func (c *conn) next() (size int) {
	for partly := false; ; {
		if c.end >= size { // else only more of the body has come
			var verdict verdict
			switch size, verdict = parse(c.buf[:c.end], &c.request); verdict {
			case plain:
				return size
			case notPlain:
				return 0
			}
		}
		if c.end == len(c.buf) && !c.grow() {
			return 0
		}
		switch {
		case c.end == 0 && c.requests > 0:
			c.readWithin(c.server.idleTimeout(), true)
		case !partly:
			partly = c.end > 0
			c.readWithin(c.server.headerTimeout(), false)
		}
		n, err := c.rwc.Read(c.buf[c.end:])
		c.end += n
		if err != nil {
			return 0 // who sends no more may still wait for an answer
		}
	}
}

// grow makes room for a larger request, unless it would be too large.
func (c *conn) grow() bool {
	if len(c.buf) == maxPlain {
		return false
	}
	large := largeBuffers.Get().(*[maxPlain]byte)
	copy(large[:], c.buf)
	c.buf = large[:]
	return true
}

// largeBuffers are for requests that do not fit a connection's first buffer.
var largeBuffers = sync.Pool{New: func() any { return new([maxPlain]byte) }}

// keep moves what follows a request to the beginning of buf, and gives a large
// buffer back when there is nothing.
func (c *conn) keep(rest []byte) {
	if len(rest) == 0 && len(c.buf) == maxPlain {
		largeBuffers.Put((*[maxPlain]byte)(c.buf))
		c.buf = make([]byte, firstBuffer)
	}
	c.end = copy(c.buf, rest)
}

// readWithin bounds the time of the next reads; 0: no bound. roughly says that a
// deadline that is set already may do.
func (c *conn) readWithin(d time.Duration, roughly bool) {
	var by time.Time
	if d > 0 {
		by = time.Now().Add(d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.closing.Load() {
		by = longAgo
	} else if roughly && near(c.readBy, by, d/slack) {
		return
	}
	c.readBy = by
	c.rwc.SetReadDeadline(by)
}

// writeWithin bounds the time of the next writes, roughly; 0: no bound.
func (c *conn) writeWithin(d time.Duration) {
	var by time.Time
	if d > 0 {
		by = time.Now().Add(d)
	}
	if c.writeBy != by && !near(c.writeBy, by, d/slack) {
		c.writeBy = by
		c.rwc.SetWriteDeadline(by)
	}
}

// near says that the deadline that is set will do.
func near(set, want time.Time, slack time.Duration) bool {
	return !set.IsZero() && !want.IsZero() && !set.After(want) && want.Sub(set) < slack
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// wake ends the wait for a next request: the server stops, and has said so.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving {
		c.readBy = longAgo
		c.rwc.SetReadDeadline(longAgo)
	}
}

// answer has the handler answer the request, and reports whether another may follow.
func (c *conn) answer() (another bool) {
	ctx, cancel := context.WithCancel(c.ctx)
	if c.end == len(c.buf) {
		c.grow() // room to watch the connection; the body stays where it is
	}
	c.request.RemoteAddr = c.remote
	r := c.request.WithContext(ctx) // a copy, which the handler may keep
	w := &response{conn: c, request: r, cancel: cancel, header: http.Header{}, length: -1}
	c.mu.Lock()
	c.serving = true
	c.requests++
	c.cancel = cancel
	c.mu.Unlock()
	c.server.note()
	c.writeWithin(c.server.HTTP.WriteTimeout)
	returned := false // and has not ended its goroutine
	defer func() {
		p := recover()
		cancel()
		c.unwatch()
		c.request.Body.Close() // not r's, which the handler may have replaced
		if another = returned && w.finish(); p != nil && p != http.ErrAbortHandler {
			c.server.logf("http1: panic serving %s: %v\n%s", c.remote, p, debug.Stack())
		}
	}()
	c.server.HTTP.Handler.ServeHTTP(w, r)
	returned = true
	return true
}

// Package http1 serves plain requests of HTTP/1.1 with little work, and hands
// every connection that asks for more to net/http.
//
// Plain is a request of a closed list of forms (parse.go): it stands whole in one
// buffer, with a length or without a body, and no header that changes how
// the connection is used. What is plain here reads the same in net/http; what
// is not plain, is in doubt or does not come whole in time goes to net/http
// with all of its bytes, and the connection stays there. So this package never
// refuses a request and never guesses.
//
// It spares a request what net/http does for the sake of those others: a
// goroutine that watches the connection beside each handler, three deadlines,
// and buffers that are copied between. A connection is watched here, too, but
// only under a handler that takes long (watch.go).
//
//   - server.go: accepting, stopping
//   - conn.go: the requests of a connection, one after the other
//   - parse.go: what is plain
//   - response.go, header.go: the http.ResponseWriter
//   - watch.go: noticing that a client hung up
//   - handover.go: connections on their way to net/http
package http1

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves a handler. Its rules, timeouts and limits are those of HTTP,
// which must not be used by itself and whose hooks for connections are not called.
type Server struct {
	HTTP *http.Server

	base    context.Context
	stop    context.CancelFunc // ends base, and with it all requests
	rest    handover
	watch   watch
	closing atomic.Bool

	mu    sync.Mutex
	l     net.Listener
	conns map[*conn]struct{} // those that are not handed over
	left  chan struct{}      // closed when the server stops and none is left
}

// New makes a server of plain requests before a server for all others.
func New(h *http.Server) *Server {
	return &Server{HTTP: h, conns: map[*conn]struct{}{}, left: make(chan struct{}), rest: newHandover()}
}

// Serve answers the connections of l until Shutdown or Close, and then returns
// http.ErrServerClosed. It is called once.
func (s *Server) Serve(l net.Listener) error {
	base := context.Background()
	if s.HTTP.BaseContext != nil {
		base = s.HTTP.BaseContext(l)
	}
	base = context.WithValue(base, http.ServerContextKey, s.HTTP)
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		l.Close()
		return http.ErrServerClosed
	}
	s.base, s.stop = context.WithCancel(base)
	s.l = l
	s.rest.addr = l.Addr()
	s.mu.Unlock()
	go s.HTTP.Serve(&s.rest) // ends with rest, which Shutdown and Close close
	var pause time.Duration
	for {
		c, err := l.Accept()
		if err == nil {
			pause = 0
			s.begin(c)
			continue
		}
		if s.closing.Load() {
			return http.ErrServerClosed
		}
		var temporary interface{ Temporary() bool }
		if !errors.As(err, &temporary) || !temporary.Temporary() {
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second) // out of file descriptors, for one
		s.logf("http1: accept: %v; trying again in %v", err, pause)
		time.Sleep(pause)
	}
}

// begin serves a new connection. One that is encrypted is not plain.
func (s *Server) begin(rwc net.Conn) {
	if _, encrypted := rwc.(interface{ HandshakeContext(context.Context) error }); encrypted {
		s.rest.give(rwc, nil)
		return
	}
	c := newConn(s, rwc)
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		rwc.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	go c.serve()
}

// end forgets a connection that was closed or handed over.
func (s *Server) end(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.leave()
}

// leave says when the last connection is gone, with mu held.
func (s *Server) leave() {
	if len(s.conns) > 0 || !s.closing.Load() {
		return
	}
	select {
	case <-s.left:
	default:
		close(s.left)
	}
}

// Shutdown accepts nothing more, closes the connections that are idle, and
// returns when all others have their answers and are closed, or with ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing.Store(true)
	if s.l != nil {
		s.l.Close()
	}
	for c := range s.conns {
		c.wake()
	}
	s.leave()
	s.mu.Unlock()
	err := s.HTTP.Shutdown(ctx) // closes rest, too
	select {
	case <-s.left:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// Close closes everything at once.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing.Store(true)
	if s.l != nil {
		s.l.Close()
	}
	if s.stop != nil {
		s.stop()
	}
	for c := range s.conns {
		c.rwc.Close()
	}
	s.mu.Unlock()
	return s.HTTP.Close()
}

// idleTimeout is how long a connection may wait for its next request; 0: for ever.
func (s *Server) idleTimeout() time.Duration {
	if s.HTTP.IdleTimeout != 0 {
		return s.HTTP.IdleTimeout
	}
	return s.HTTP.ReadTimeout
}

// headerTimeout is how long a request may take to come.
func (s *Server) headerTimeout() time.Duration {
	if s.HTTP.ReadHeaderTimeout != 0 {
		return s.HTTP.ReadHeaderTimeout
	}
	return s.HTTP.ReadTimeout
}

func (s *Server) logf(format string, args ...any) {
	if s.HTTP.ErrorLog != nil {
		s.HTTP.ErrorLog.Printf(format, args...)
	} else {
		log.Printf(format, args...)
	}
}

package ephemeral

import (
	"context"
	"net"
	"sync"
	"time"
)

// ServeSSH serves git over SSH on l until ctx is done. A connection belongs to the life in which it began:
// when that ends, what is in flight on it finishes, and then it is closed.
func (s *Server) ServeSSH(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil { // such as too many open files
			s.log.Warn("ssh: a connection was not accepted", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		now := s.enter()
		now.conns.give(conn)
		now.inFlight.Done()
	}
}

// handed is a listener of connections that another one accepted.
type handed struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	close   sync.Once
}

func newHanded() *handed {
	return &handed{address: &net.TCPAddr{}, conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (h *handed) give(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.closed:
		conn.Close()
	}
}

// Accept is net.Listener's.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener's.
func (h *handed) Close() error {
	h.close.Do(func() { close(h.closed) })
	return nil
}

// Addr is net.Listener's; nobody asks for it.
func (h *handed) Addr() net.Addr { return h.address }

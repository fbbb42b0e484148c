package http1

import (
	"net"
	"net/http"
	"sync"
)

// handover is the listener of net/http: it accepts what is given to it.
type handover struct {
	addr  net.Addr
	conns chan net.Conn
	ended chan struct{}
	once  *sync.Once
}

func newHandover() handover {
	return handover{conns: make(chan net.Conn), ended: make(chan struct{}), once: new(sync.Once)}
}

// give hands a connection over, with what was read from it already.
func (h *handover) give(c net.Conn, read []byte) {
	if len(read) > 0 {
		c = &resumed{Conn: c, read: read}
	}
	select {
	case h.conns <- c:
	case <-h.ended:
		c.Close()
	}
}

// Accept is net.Listener's.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.ended:
		return nil, http.ErrServerClosed
	}
}

// Close is net.Listener's. The listener itself is somebody else's.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.ended) })
	return nil
}

// Addr is net.Listener's.
func (h *handover) Addr() net.Addr { return h.addr }

// resumed is a connection of which something was read before.
type resumed struct {
	net.Conn
	read []byte
}

// Read gives what was read before, then what comes.
func (r *resumed) Read(p []byte) (int, error) {
	if len(r.read) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.read)
	if r.read = r.read[n:]; len(r.read) == 0 {
		r.read = nil // a large request's head is not kept as long as the connection
	}
	return n, nil
}

// CloseWrite ends what the client can read, so that it sees the last answer
// before the connection breaks; net/http looks for it.
func (r *resumed) CloseWrite() error {
	if c, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

package main

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// valve stands between git and the server, and holds one direction back when a
// number of bytes has passed, until it is opened or cut.
type valve struct {
	url     string        // to use instead of the server's
	reached chan struct{} // closed when the bytes have passed
	opened  chan struct{}

	up, down int // bytes to let through to the server, and back; -1: all
	target   string

	drips atomic.Bool // what is held back passes slowly, so that the server does not hang up on a stalled client

	once sync.Once
	mu   sync.Mutex
	open bool
	list []net.Conn
}

// newValve creates a valve before a server's address. up is the number of bytes
// let through to the server, down that of bytes back to the client; -1 is all.
func newValve(t testing.TB, server string, up, down int) *valve {
	t.Helper()
	u, err := url.Parse(server)
	testkit.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	v := &valve{reached: make(chan struct{}), opened: make(chan struct{}), up: up, down: down, target: u.Host}
	v.url = "http://" + l.Addr().String()
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { v.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		v.cut()
		v.release()
		conns.Wait()
	})
	return v
}

// remote is a remote of the server, through the valve.
func (v *valve) remote(s *instance, login, repository string) string {
	return strings.Replace(s.remote(login, repository), s.url[len("http://"):], v.url[len("http://"):], 1)
}

func (v *valve) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", v.target)
	if err != nil {
		return
	}
	defer server.Close()
	v.keep(client, server)
	var both sync.WaitGroup
	both.Go(func() { v.pass(server, client, &v.up) })
	both.Go(func() { v.pass(client, server, &v.down) })
	both.Wait()
}

// keep remembers connections for cut.
func (v *valve) keep(conns ...net.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, conns...)
}

// take counts bytes that are about to pass, and says how many may now.
func (v *valve) take(left *int, n int) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open || *left < 0 {
		return n
	}
	n = min(n, *left)
	*left -= n
	return n
}

func (v *valve) pass(to, from net.Conn, left *int) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		rest := buf[:n]
		for len(rest) > 0 {
			now := v.take(left, len(rest))
			if _, err := to.Write(rest[:now]); err != nil {
				from.Close()
				return
			}
			if rest = rest[now:]; len(rest) > 0 {
				v.once.Do(func() { close(v.reached) })
				v.hold(left)
			}
		}
		if err != nil {
			if err == io.EOF {
				to.(*net.TCPConn).CloseWrite()
			} else {
				to.Close()
			}
			return
		}
	}
}

// hold waits until the valve is opened, or until a drip may pass: a large one, since the kernel has a sender wait until
// much of its buffer is free.
func (v *valve) hold(left *int) {
	var drip <-chan time.Time
	if v.drips.Load() {
		drip = time.After(time.Second / 4)
	}
	select {
	case <-v.opened:
	case <-drip:
		v.mu.Lock()
		*left += 64 << 10
		v.mu.Unlock()
	}
}

// wait waits until the bytes have passed and more would come.
func (v *valve) wait(t testing.TB) {
	t.Helper()
	select {
	case <-v.reached:
	case <-time.After(testkit.Patience):
		t.Fatal("the transfer never came to the point where it is held")
	}
}

// release lets everything through.
func (v *valve) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.open {
		v.open = true
		close(v.opened)
	}
}

// cut ends all connections at once, as when a cable is pulled: the client has
// no chance to say goodbye.
func (v *valve) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.list {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

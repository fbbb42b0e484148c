//go:build long

package bench

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// crowd is a number of keep-alive connections in the hands of one thread, which
// waits for all of them at once. Where a server is compared with something that
// needs no client, each microsecond of the client's counts against the server:
// this one makes a read, a write and at most one wait for each answer.
type crowd struct {
	epoll int
	peers []peer
	next  func(to []byte, client int) []byte // appends the next request of a client
	// nil, or says that a client is not through: it may not stop here
	open  func(client int) bool
	spare []byte
}

// peer is one connection and what of its answer has come.
type peer struct {
	fd   int
	got  []byte
	room [8 << 10]byte
}

// newCrowd connects. It ends with the benchmark.
func newCrowd(b *testing.B, address string, connections int, next func(to []byte, client int) []byte) *crowd {
	b.Helper()
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	testkit.NoError(b, err)
	c := &crowd{epoll: epoll, peers: make([]peer, connections), next: next}
	b.Cleanup(func() { syscall.Close(epoll) })
	for i := range c.peers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		testkit.NoError(b, err)
		file, err := conn.(*net.TCPConn).File() // out of the hands of Go's own poller
		conn.Close()
		testkit.NoError(b, err)
		b.Cleanup(func() { file.Close() })
		c.peers[i].fd = int(file.Fd())
		c.peers[i].got = c.peers[i].room[:0]
		event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)}
		testkit.NoError(b, syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, c.peers[i].fd, &event))
	}
	return c
}

// run has each client send its next request when it gets a response, until d has passed, and returns the
// requests per second. All requests have been answered when it returns.
func (c *crowd) run(b *testing.B, d time.Duration) float64 {
	b.Helper()
	start := time.Now()
	for i := range c.peers {
		c.ask(b, i)
	}
	count := 0
	events := make([]syscall.EpollEvent, len(c.peers))
	for waiting := len(c.peers); waiting > 0; {
		n, err := syscall.EpollWait(c.epoll, events, -1)
		if err == syscall.EINTR {
			continue
		}
		testkit.NoError(b, err)
		more := time.Since(start) < d
		for _, e := range events[:n] {
			i := int(e.Fd)
			if !c.peers[i].read(b) {
				continue
			}
			count++
			if more || c.open != nil && c.open(i) {
				c.ask(b, i)
			} else {
				waiting--
			}
		}
	}
	return float64(count) / time.Since(start).Seconds()
}

func (c *crowd) ask(b *testing.B, i int) {
	c.spare = c.next(c.spare[:0], i)
	for rest := c.spare; len(rest) > 0; {
		n, err := syscall.Write(c.peers[i].fd, rest)
		testkit.NoError(b, err)
		rest = rest[n:]
	}
}

// read takes what has come, and reports whether that completes the answer, which
// must be a good one.
func (p *peer) read(b *testing.B) bool {
	n, err := syscall.Read(p.fd, p.got[len(p.got):cap(p.got)])
	if err != nil || n == 0 {
		b.Fatalf("the server hung up: %v after %q", err, p.got)
	}
	p.got = p.got[:len(p.got)+n]
	header, body, complete := bytes.Cut(p.got, []byte("\r\n\r\n"))
	if !complete {
		return false
	}
	if !bytes.HasPrefix(header, []byte("HTTP/1.1 20")) {
		b.Fatal(fmt.Errorf("%w: %q", errStatus, p.got))
	}
	length := 0
	if _, after, ok := bytes.Cut(header, []byte("Content-Length: ")); ok {
		digits, _, _ := bytes.Cut(after, []byte("\r"))
		if length, err = strconv.Atoi(string(digits)); err != nil {
			b.Fatal(err)
		}
	}
	if len(body) < length {
		return false
	}
	p.got = p.got[:0]
	return true
}

package admission

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// dialled is a connection from an address.
type dialled struct {
	net.Conn
	from   string
	closed bool
}

func (d *dialled) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(d.from), 1))
}

func (d *dialled) Close() error {
	d.closed = true
	return nil
}

// lobby is a Conns whose connections say nothing until they are served.
type lobby struct {
	*Conns
	all []*dialled
}

func newLobby(most int) *lobby {
	return &lobby{Conns: NewConns(most, Proxies{netip.MustParsePrefix("10.0.0.0/8")})}
}

// dial connects, and gives a connection that may have been turned away.
func (l *lobby) dial(from string) *dialled {
	d := &dialled{from: from}
	l.all = append(l.all, d)
	l.Watch(d, http.StateNew)
	return d
}

// serve is dial for a client that says something.
func (l *lobby) serve(from string) *dialled {
	d := l.dial(from)
	l.Watch(d, http.StateActive)
	return d
}

// open counts the connections of a network, by the beginning of their addresses.
func (l *lobby) open(network string) (n int) {
	for _, d := range l.all {
		if !d.closed && len(d.from) > len(network) && d.from[:len(network)] == network {
			n++
		}
	}
	return n
}

// Connections that say nothing, from however many networks, keep nobody out: of the network that has most of
// them the one that was silent longest gives way.
func TestSilenceHoldsNoPlace(t *testing.T) {
	t.Parallel()
	l := newLobby(64)
	for n := range 10 {
		for range 40 {
			l.dial(fmt.Sprintf("192.0.%d.1", n))
		}
	}
	first := l.dial("198.51.100.1")
	l.Watch(first, http.StateActive)
	l.Watch(first, http.StateIdle)
	if first.closed {
		t.Fatal("a client that says something is turned away")
	}
	for range 2 { // a network gets what others have as well
		if d := l.dial("198.51.100.2"); d.closed {
			t.Error("another one of its network is turned away")
		}
	}
	for n := range 1000 {
		l.dial(fmt.Sprintf("192.0.%d.2", n%10))
	}
	if first.closed {
		t.Error("a client that has been served goes before those of larger networks")
	}
	if open, _ := l.Open(); open > 64 {
		t.Errorf("%d connections are open", open)
	}
}

// The oldest of the largest holder goes first; one in use never goes.
func TestWhichSilentConnectionGoes(t *testing.T) {
	t.Parallel()
	l := newLobby(8)
	busy := l.serve("192.0.2.1")
	old, older := l.dial("192.0.2.2"), l.dial("203.0.113.1")
	l.dial("192.0.2.3")
	l.Watch(older, http.StateActive)
	l.Watch(older, http.StateIdle) // now it has been silent for a shorter time
	l.serve("203.0.113.2")
	l.serve("198.51.100.1")
	l.serve("198.51.101.1")
	l.serve("198.51.102.1")
	if l.dial("198.51.103.1"); !old.closed || busy.closed || older.closed {
		t.Errorf("closed: old %v, busy %v, older %v", old.closed, busy.closed, older.closed)
	}
	for range 10 { // who has as many as the largest holder replaces its own
		l.dial("203.0.113.3")
	}
	if n := l.open("203.0.113."); n > 3 {
		t.Errorf("one network has %d of 8", n)
	}
}

// Connections in use are no more than a network's share, and those of a trusted proxy do not count as
// silent.
func TestUseKeepsItsPlace(t *testing.T) {
	t.Parallel()
	l := newLobby(16)
	for range 16 {
		l.serve("192.0.2.1")
	}
	if n := l.open("192.0.2."); n != 8 {
		t.Errorf("one network has %d of 16 in use", n)
	}
	proxy := l.dial("10.0.0.1")
	for n := range 10 {
		for range 10 {
			l.serve(fmt.Sprintf("203.0.%d.1", n))
		}
	}
	if proxy.closed {
		t.Error("a trusted proxy's connection went")
	}
	if d := l.dial("198.51.100.1"); !d.closed {
		t.Error("a full server takes one more")
	}
	for _, d := range l.all {
		l.Watch(d, http.StateClosed)
		l.Watch(d, http.StateClosed)
	}
	if open, _ := l.Open(); open != 0 || len(l.held) != 0 {
		t.Errorf("%d connections are remembered, of %d networks", open, len(l.held))
	}
}

// A request by HTTP/2 takes the place of a silent connection as well, and never that of the connection that
// it came over.
func TestStreamTakesSilentPlace(t *testing.T) {
	t.Parallel()
	l := newLobby(8)
	for n := range 8 {
		l.dial(fmt.Sprintf("192.0.%d.1", n))
	}
	own := l.serve("198.51.100.1")
	r := &http.Request{ProtoMajor: 2, RemoteAddr: "198.51.100.1:1"}
	leave, ok := l.Stream(r)
	if !ok || own.closed {
		t.Errorf("a request is let in: %v; its connection is closed: %v", ok, own.closed)
	}
	leave()
	if open, _ := l.Open(); open > 8 {
		t.Errorf("%d are open", open)
	}
}

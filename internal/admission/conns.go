package admission

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Conns bounds how many connections are open, in all and from one network: a network
// gets another one only while it has fewer than are free. Connections of trusted
// proxies, and of sockets in the file system, count only in the total. A request by
// HTTP/2 counts as a connection beside the one that it came over, since it costs as much.
type Conns struct {
	most    int
	proxies Proxies

	mu      sync.Mutex
	open    map[net.Conn]netip.Prefix
	streams int // requests by HTTP/2
	held    map[netip.Prefix]int
	turned  int64 // connections that were turned away
}

// NewConns bounds connections to most.
func NewConns(most int, proxies Proxies) *Conns {
	return &Conns{
		most: most, proxies: proxies,
		open: map[net.Conn]netip.Prefix{}, held: map[netip.Prefix]int{},
	}
}

// MaxConns is how many connections a server of so many bytes of memory may have
// open, each of which costs some 40 KiB with TLS, and 20 without.
func MaxConns(memory int64) int { return int(min(max(memory/8/(40<<10), 64), 16<<10)) }

// Watch is the server's http.Server.ConnState. It closes a connection that is one
// too many before anything is read from it.
func (c *Conns) Watch(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.Enter(conn) {
			conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		c.Leave(conn)
	}
}

// Stream counts a request by HTTP/2; others have their connection. leave is called, once,
// when it has been answered; it is never nil. A request that is one too many gets false.
func (c *Conns) Stream(r *http.Request) (leave func(), ok bool) {
	if r.ProtoMajor < 2 {
		return nothing, true
	}
	network := c.networkOf(r.RemoteAddr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.take(network) {
		return nothing, false
	}
	c.streams++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.streams--
		c.give(network)
	}, true
}

// networkOf is the network that an address counts for.
func (c *Conns) networkOf(address string) netip.Prefix {
	a := addressOf(address)
	if c.proxies.trust(a) {
		return netip.Prefix{}
	}
	return NetworkOf(a)
}

// Enter counts a connection, unless it is one too many. Leave follows where it did.
func (c *Conns) Enter(conn net.Conn) bool {
	network := c.networkOf(conn.RemoteAddr().String())
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.take(network) {
		return false
	}
	c.open[conn] = network
	return true
}

// take counts one more, unless that is too many, with mu held.
func (c *Conns) take(network netip.Prefix) bool {
	free := c.most - len(c.open) - c.streams
	if free <= 0 || network.IsValid() && c.held[network] >= free {
		c.turned++
		return false
	}
	c.held[network]++
	return true
}

func (c *Conns) give(network netip.Prefix) {
	if c.held[network]--; c.held[network] == 0 {
		delete(c.held, network)
	}
}

// Leave counts a connection no more. It may be called again.
func (c *Conns) Leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	network, counted := c.open[conn]
	if !counted {
		return
	}
	delete(c.open, conn)
	c.give(network)
}

// Open is how many connections and requests by HTTP/2 are open, and how many were turned
// away.
func (c *Conns) Open() (open, turned int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.open) + c.streams), c.turned
}

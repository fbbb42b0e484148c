package admission

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Conns bounds how many connections are open, in all and from one network: a network
// gets another one only while it has fewer than are free. Connections of trusted
// proxies, and of sockets in the file system, count only in the total.
type Conns struct {
	most    int
	proxies Proxies

	mu     sync.Mutex
	open   map[net.Conn]netip.Prefix
	held   map[netip.Prefix]int
	turned int64 // connections that were turned away
}

// NewConns bounds connections to most.
func NewConns(most int, proxies Proxies) *Conns {
	return &Conns{
		most: most, proxies: proxies,
		open: map[net.Conn]netip.Prefix{}, held: map[netip.Prefix]int{},
	}
}

// MaxConns is how many connections a server of so many bytes of memory may have
// open, each of which costs some 32 KiB.
func MaxConns(memory int64) int { return int(min(max(memory/8/(32<<10), 64), 16<<10)) }

// Watch is the server's http.Server.ConnState. It closes a connection that is one
// too many before anything is read from it.
func (c *Conns) Watch(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.enter(conn) {
			conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		c.leave(conn)
	}
}

func (c *Conns) enter(conn net.Conn) bool {
	address := addressOf(conn.RemoteAddr().String())
	network := NetworkOf(address)
	if c.proxies.trust(address) {
		network = netip.Prefix{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	free := c.most - len(c.open)
	if free <= 0 || network.IsValid() && c.held[network] >= free {
		c.turned++
		return false
	}
	c.open[conn] = network
	c.held[network]++
	return true
}

func (c *Conns) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	network, counted := c.open[conn]
	if !counted {
		return
	}
	delete(c.open, conn)
	if c.held[network]--; c.held[network] == 0 {
		delete(c.held, network)
	}
}

// Open is how many connections are open, and how many were turned away.
func (c *Conns) Open() (open, turned int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.open)), c.turned
}

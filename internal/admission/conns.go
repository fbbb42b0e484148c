package admission

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Conns bounds how many connections are open, in all and from one network: a network
// gets another one only while it has fewer than others leave. Connections of trusted
// proxies, and of sockets in the file system, count only in the total. A request by
// HTTP/2 counts as a connection of its own, since it costs as much as one.
//
// A connection is silent while the server waits for its client to begin something: the
// wait for a handshake and the head of the first request ends when they are there whole.
// Silent connections keep nobody out: they count as free to other networks. When there is
// no place left, the network with most of them loses the one that was silent longest; a
// network that has as many itself loses its own.
type Conns struct {
	most    int
	proxies Proxies

	mu      sync.Mutex
	open    map[net.Conn]*connSlot
	streams int // requests by HTTP/2
	silent  int // connections
	held    map[netip.Prefix]*holding
	waits   uint64 // how many waits have begun
	turned  int64  // connections that were turned away, or closed in favour of others
}

// connSlot is the slot of one connection.
type connSlot struct {
	conn   net.Conn
	of     netip.Prefix
	since  uint64        // when its silence began: the number of the wait
	silent *list.Element // in holding.silent; nil while the connection is in use
}

// holding is what one network holds.
type holding struct {
	count  int       // connections and requests by HTTP/2
	silent list.List // of *connSlot, the one that was silent longest first
}

// NewConns bounds connections to most.
func NewConns(most int, proxies Proxies) *Conns {
	return &Conns{
		most: most, proxies: proxies,
		open: map[net.Conn]*connSlot{}, held: map[netip.Prefix]*holding{},
	}
}

// MaxConns returns how many connections a server with so many bytes of memory may have
// open. A connection costs about 40 KiB with TLS, and 20 KiB without.
func MaxConns(memory int64) int { return int(min(max(memory/8/(40<<10), 64), 16<<10)) }

// Watch is the server's http.Server.ConnState. It closes a connection that is one
// too many before anything is read from it.
func (c *Conns) Watch(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.Enter(conn) {
			conn.Close()
		}
	case http.StateActive:
		c.SetSilent(conn, false)
	case http.StateIdle:
		c.SetSilent(conn, true)
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
	displaced, ok := c.take(network, true)
	if ok {
		c.streams++
	}
	c.mu.Unlock()
	hangUp(displaced)
	if !ok {
		return nothing, false
	}
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

// Enter counts a connection, which is silent at first, unless it is one too many. Leave
// follows where it did.
func (c *Conns) Enter(conn net.Conn) bool {
	p := &connSlot{conn: conn, of: c.networkOf(conn.RemoteAddr().String())}
	c.mu.Lock()
	displaced, ok := c.take(p.of, false)
	if ok {
		c.open[conn] = p
		c.wait(p)
	}
	c.mu.Unlock()
	hangUp(displaced)
	return ok
}

// SetSilent notes whether the server waits for the client of a connection to begin something.
func (c *Conns) SetSilent(conn net.Conn, silent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.open[conn]
	switch {
	case p == nil || silent == (p.silent != nil):
	case silent:
		c.wait(p)
	default:
		c.use(p)
	}
}

// spent reports whether a network holds as many as it may.
func (c *Conns) spent(network netip.Prefix, h *holding) bool {
	left := c.most - (len(c.open) + c.streams - c.silent) - h.silent.Len() // by others
	return network.IsValid() && h.count >= left
}

// take counts one more connection unless there are too many. displaced, if not nil, has lost its slot and
// must be closed. Like all functions below it is called with mu held.
func (c *Conns) take(network netip.Prefix, isStream bool) (displaced net.Conn, ok bool) {
	h := c.held[network]
	if h == nil {
		h = &holding{}
	}
	spent := c.spent(network, h)
	if spent || len(c.open)+c.streams >= c.most {
		c.turned++
		if spent && isStream { // its client gets an error
			return nil, false
		}
		if displaced = c.displace(network, h, spent); displaced == nil {
			return nil, false
		}
	}
	h.count++
	c.held[network] = h
	return displaced, true
}

// displace ends the place of a silent connection in favour of a network: of its own where
// it must be, or where no network has more of them. nil: none may go.
func (c *Conns) displace(network netip.Prefix, own *holding, mustOwn bool) net.Conn {
	from := c.mostSilent()
	if mustOwn || from == nil || network.IsValid() && own.silent.Len() >= from.silent.Len() {
		from = own
	}
	if from.silent.Len() == 0 || from == own && !network.IsValid() {
		return nil
	}
	p := from.silent.Front().Value.(*connSlot)
	c.end(p)
	return p.conn
}

// mostSilent is the network with most silent connections; of two that have as many, the one
// with the oldest. nil: there is none. Those of trusted proxies do not count.
func (c *Conns) mostSilent() (most *holding) {
	var since uint64
	for network, h := range c.held {
		if !network.IsValid() || h.silent.Len() == 0 {
			continue
		}
		first := h.silent.Front().Value.(*connSlot).since
		if most == nil || h.silent.Len() > most.silent.Len() ||
			h.silent.Len() == most.silent.Len() && first < since {
			most, since = h, first
		}
	}
	return most
}

func (c *Conns) wait(p *connSlot) {
	c.waits++
	c.silent++
	p.since = c.waits
	p.silent = c.held[p.of].silent.PushBack(p)
}

func (c *Conns) use(p *connSlot) {
	if p.silent != nil {
		c.held[p.of].silent.Remove(p.silent)
		c.silent--
		p.silent = nil
	}
}

func (c *Conns) end(p *connSlot) {
	c.use(p)
	delete(c.open, p.conn)
	c.give(p.of)
}

func (c *Conns) give(network netip.Prefix) {
	h := c.held[network]
	if h.count--; h.count == 0 {
		delete(c.held, network)
	}
}

// Leave stops counting a connection. It may be called more than once.
func (c *Conns) Leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.open[conn]; p != nil {
		c.end(p)
	}
}

// hangUp closes a connection, which may be nil, without a message: sending one could block.
func hangUp(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if conn != nil {
		conn.Close()
	}
}

// Open is how many connections and requests by HTTP/2 are open, and how many were turned
// away.
func (c *Conns) Open() (open, turned int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.open) + c.streams), c.turned
}

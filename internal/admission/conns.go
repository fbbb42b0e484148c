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
// network that has its share loses its own.
//
// The attacks, and the tests that fail without what stands against them:
//
//   - one network opens thousands of connections and keeps them busy: its share
//     (TestUseKeepsItsPlace, TestHandshakesThatNeverEnd in server)
//   - clients of many networks connect and say nothing: silence holds no place (TestSilenceClosesNothing and
//     TestSilenceClosesNoTLS in server, TestSilentConnections in test/repos)
//   - they connect again and again, so that clients that wait for their next request lose their place: the
//     largest holder loses its own first (TestSilenceHoldsNoPlace)
//   - one connection of HTTP/2 carries a hundred requests: each counts (TestStreamsCountAsConnections in server)
type Conns struct {
	most    int
	proxies Proxies

	mu     sync.Mutex
	open   map[net.Conn]*connSlot
	total  int // connections, and requests by HTTP/2
	silent int // of these
	held   map[netip.Prefix]*holding
	turned int64 // connections that were turned away, or closed in favour of others
}

// connSlot is the slot of one connection.
type connSlot struct {
	conn   net.Conn
	of     netip.Prefix
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
	defer c.mu.Unlock()
	if !c.take(network, true) {
		return nothing, false
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
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
	defer c.mu.Unlock()
	if !c.take(p.of, false) {
		return false
	}
	c.open[conn] = p
	c.setSilent(p, true)
	return true
}

// SetSilent notes whether the server waits for the client of a connection to begin something.
func (c *Conns) SetSilent(conn net.Conn, silent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.open[conn]; p != nil {
		c.setSilent(p, silent)
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

// take counts one more connection, or a stream of one, unless there are too many. It may close a silent one for
// it; a stream beyond its network's share gets an error instead. Like all functions below it is called with mu held.
func (c *Conns) take(network netip.Prefix, stream bool) bool {
	h := c.held[network]
	if h == nil {
		h = &holding{}
	}
	left := c.most - (c.total - c.silent) - h.silent.Len() // by others, whose silent ones count as free
	spent := network.IsValid() && h.count >= left
	if spent || c.total >= c.most {
		c.turned++
		from := h
		if !spent {
			from = c.mostSilent()
		}
		if spent && stream || from.silent.Len() == 0 {
			return false
		}
		p := from.silent.Front().Value.(*connSlot)
		c.end(p)
		hangUp(p.conn)
	}
	h.count++
	c.total++
	c.held[network] = h
	return true
}

// mostSilent returns the holding of a network with most silent connections; it may have none.
func (c *Conns) mostSilent() *holding {
	most := &holding{}
	for _, h := range c.held {
		if h.silent.Len() > most.silent.Len() {
			most = h
		}
	}
	return most
}

// setSilent is SetSilent for a slot. Connections of trusted proxies count as in use.
func (c *Conns) setSilent(p *connSlot, silent bool) {
	waiting := &c.held[p.of].silent
	switch {
	case silent && p.silent == nil && p.of.IsValid():
		p.silent = waiting.PushBack(p)
		c.silent++
	case !silent && p.silent != nil:
		waiting.Remove(p.silent)
		p.silent = nil
		c.silent--
	}
}

func (c *Conns) end(p *connSlot) {
	c.setSilent(p, false)
	delete(c.open, p.conn)
	c.give(p.of)
}

func (c *Conns) give(network netip.Prefix) {
	c.total--
	h := c.held[network]
	if h.count--; h.count == 0 {
		delete(c.held, network)
	}
}

// hangUp closes a connection without a message: sending one could block.
func hangUp(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.Close()
}

// Open is how many connections and requests by HTTP/2 are open, and how many were turned
// away.
func (c *Conns) Open() (open, turned int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.total), c.turned
}
